import { z } from 'zod'
import { pictureOption } from '../rules/option-rules.ts'

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

/** Headers that identify the client. Secret headers are in private.ts. */
export const identityOptions = {
  userAgent: pictureOption(
    visible(
      1024,
      'User agent that servers and scripts see, at most 1024 characters. Client hints match it, and service workers are blocked. Default: the device’s, else the browser’s own.',
    ),
  ),
  userAgentPlatform: pictureOption(
    visible(
      64,
      'Platform that scripts and client hints report, such as Win32, MacIntel or Linux x86_64, at most 64 characters. Workers report the browser’s own. Default: the platform that matches user_agent.',
    ),
  ),
  acceptLanguage: pictureOption(
    z
      .string()
      .min(1)
      .max(256)
      .regex(/^[A-Za-z0-9*,;=. -]+$/, 'must be languages, such as de-CH, de;q=0.8')
      .describe('Header Accept-Language of every request, at most 256 characters; does not change locale. Default: derived from locale.'),
  ),
  headersScope: pictureOption(
    HeadersScope.describe(
      'Which requests carry headers and authorization: same_origin for the page’s own origin, same_site for hosts of its site, all for every request, also to third parties. Default: same_origin.',
    ),
  ),
}

export const identityDefaults = { headersScope: 'same_origin' } as const
