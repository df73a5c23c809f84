import { z } from 'zod'
import { withAsciiForm } from '../../text/ascii-form.ts'
import { option, pictureOption } from '../rules/option-rules.ts'

/** Proxy and connection options. The user name and password of a proxy are in private.ts. */
export const networkOptions = {
  proxy: option(
    { links: 'no', picture: 'yes' },
    z
      .string()
      .max(512)
      .regex(/^(https?|socks5):\/\/([-A-Za-z0-9._]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?\/?$/, withAsciiForm())
      .describe(
        'URL of the proxy for the page’s traffic: http, https or socks5, with host and port. A user name and password in it become proxy_username and proxy_password. Default: none.',
      ),
  ),
  proxyBypass: option(
    { links: 'no', picture: 'yes' },
    z
      .array(
        z
          .string()
          .min(1)
          .max(253)
          .regex(/^(\*\.)?[-A-Za-z0-9._:[\]]+$/, withAsciiForm()),
      )
      .max(50)
      .describe('Hosts to reach without the proxy, at most 50; *.example.com matches all subdomains. Default: none.'),
  ),
  ignoreHttpsErrors: pictureOption(z.boolean().describe('Accepts invalid TLS certificates. Default: false.')),
  httpCache: option(
    { links: 'yes', picture: 'separate' },
    z
      .enum(['off', 'batch'])
      .describe(
        'HTTP cache: batch shares scripts, style sheets, fonts and images among the captures of one batch; off requests them again for each capture. The cache stores only fresh responses to requests without cookies or credentials. No effect outside a batch. Default: batch.',
      ),
  ),
}

export const networkDefaults = { ignoreHttpsErrors: false, httpCache: 'batch' }
