import { z } from 'zod'

const visible = (most: number, what: string) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII')
    .describe(what)

/** Which requests carry headers and authorization. */
export const HeadersScope = z.enum(['same_origin', 'same_site', 'all'])
export type HeadersScope = z.infer<typeof HeadersScope>

/** How the request for the page names its sender; what is secret of it is in private.ts. */
export const identityOptions = {
  userAgent: visible(
    1024,
    'User agent that servers and scripts see, at most 1024 characters; client hints follow it, and the page gets no service worker. Default: the device’s, else the browser’s own.',
  ),
  userAgentPlatform: visible(
    64,
    'Platform that scripts and client hints name, such as Win32, MacIntel or Linux x86_64, at most 64 characters; workers name the browser’s own. Default: what fits user_agent.',
  ),
  acceptLanguage: z
    .string()
    .min(1)
    .max(256)
    .regex(/^[A-Za-z0-9*,;=. -]+$/)
    .describe('Header Accept-Language of every request, at most 256 characters; locale stays as it is. Default: by locale.'),
  headersScope: HeadersScope.describe(
    'Which requests carry headers and authorization: those to the page’s own origin, to hosts of its site, or all, third parties among them. Default: same_origin.',
  ),
}

export const identityDefaults = { headersScope: 'same_origin' } as const
