import { z } from 'zod'
import { withAsciiForm } from '../../text/ascii-form.ts'
import { choice, flag, formed, group, list, PICTURE } from '../rules/declare.ts'

const PROXY_URL = /^(https?|socks5):\/\/([-A-Za-z0-9._]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?\/?$/
const HOST = z
  .string()
  .min(1)
  .max(253)
  .regex(/^(\*\.)?[-A-Za-z0-9._:[\]]+$/, withAsciiForm())

/** Proxy and connection options. The user name and password of a proxy are in private.ts. */
export const networkGroup = group('Network', PICTURE, {
  proxy: formed(512, PROXY_URL, { form: withAsciiForm(), links: 'no', policy: 'proxy', example: 'http://proxy.example.com:3128' })(
    'URL of the proxy for the page’s traffic: http, https or socks5, with host and port. A user name and password in it become proxy_username and proxy_password.',
  ),
  proxyBypass: list(HOST, 50, { links: 'no', policy: 'proxy', example: ['*.example.com'] })(
    'Hosts to reach without the proxy; *.example.com matches all subdomains.',
  ),
  ignoreHttpsErrors: flag({ default: false, policy: 'ignoreHttpsErrors' })('Accepts invalid TLS certificates.'),
  httpCache: choice(['off', 'batch'], { default: 'batch', picture: 'separate' })(
    'HTTP cache: batch shares scripts, style sheets, fonts and images among the captures of one batch; off requests them again for each capture. The cache stores only fresh responses to requests without cookies or credentials. No effect outside a batch.',
  ),
})
