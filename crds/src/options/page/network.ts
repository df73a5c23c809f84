import { z } from 'zod'

/** The way to the page; user name and password of a proxy are in private.ts. */
export const networkOptions = {
  proxy: z
    .string()
    .max(512)
    .regex(/^(https?|socks5):\/\/([-A-Za-z0-9._]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?\/?$/)
    .describe(
      'Proxy that the page’s traffic takes: http, https or socks5, host and port; user name and password in it become proxy_username and proxy_password. Default: none.',
    ),
  proxyBypass: z
    .array(
      z
        .string()
        .min(1)
        .max(253)
        .regex(/^(\*\.)?[-A-Za-z0-9._:[\]]+$/),
    )
    .max(50)
    .describe('Hosts that are reached without the proxy, at most 50; *.example.com stands for all hosts below. Default: none.'),
  ignoreHttpsErrors: z.boolean().describe('Goes on although a certificate is not valid. Default: false.'),
  httpCache: z
    .enum(['off', 'batch'])
    .describe(
      'batch: captures of one batch share scripts, stylesheets, fonts and images that their servers declare fresh and that were requested without cookies or credentials; it has no effect outside of a batch. Default: off.',
    ),
}

export const networkDefaults = { ignoreHttpsErrors: false, httpCache: 'off' }
