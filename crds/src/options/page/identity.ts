import { z } from 'zod'
import { choice, declare, type Facts, group, PICTURE } from '../rules/declare.ts'

const visible = (most: number, pattern: RegExp, form: string, own: Facts<string>) =>
  declare(z.string().min(1).max(most).regex(pattern, form), own, `at most ${most} characters`)
const ascii = (most: number, own: Facts<string>) => visible(most, /^[\x20-\x7e]+$/, 'must be printable ASCII', own)

/** Headers that identify the client. Secret headers are in private.ts. */
export const identityGroup = group('Identity of the request', PICTURE, {
  userAgent: ascii(1024, {
    absent: 'the device’s, else the browser’s own',
    example: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
  })('User agent that servers and scripts see. Client hints match it, and service workers are blocked.'),
  userAgentPlatform: ascii(64, { absent: 'the platform that matches user_agent', example: 'Win32' })(
    'Platform that scripts and client hints report, such as Win32, MacIntel or Linux x86_64. Workers report the browser’s own.',
  ),
  acceptLanguage: visible(256, /^[A-Za-z0-9*,;=. -]+$/, 'must be languages, such as de-CH, de;q=0.8', {
    absent: 'derived from locale',
    example: 'de-AT,de;q=0.9',
  })('Header Accept-Language of every request; does not change locale.'),
  headersScope: choice(['same_origin', 'same_site', 'all'], { default: 'same_origin' })(
    'Which requests carry headers and authorization: same_origin for the page’s own origin, same_site for hosts of its site, all for every request, also to third parties.',
  ),
})
