import { z } from 'zod'
import { CaptureOptions, isLarge } from './catalog.ts'
import { declare, filled, formed, group, list, type OptionRules, text } from './rules/declare.ts'

// Options with secret values. They are not part of CaptureOptions, so that no Kubernetes object can contain them in plain text. The gateway encrypts
// them (sealed.ts), kubectl users put them in a Secret, and the runner receives them in its encrypted order. The API shows only their names.

const MAX_HEADERS = 64
const HEADER_LENGTH = 8192
const CREDENTIAL_LENGTH = 1024
const PROXY_CREDENTIAL_LENGTH = 256
const STORAGE_KEY_LENGTH = 256
const STORAGE_BYTES = 65_536
/** Maximum bytes of a cookie's name and value in browsers. */
const COOKIE_BYTES = 4096

/** Headers that the connection or the browser controls, or that have their own option. */
const REFUSED_HEADERS = new Set([
  'connection',
  'content-length',
  'cookie',
  'cookie2',
  'expect',
  'host',
  'keep-alive',
  'sec-fetch-dest',
  'sec-fetch-site',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const isAllowedHeader = (name: string): boolean => !REFUSED_HEADERS.has(name.toLowerCase()) && !/^proxy-/i.test(name)

/** Values with which the browser does not send a request, or sends it without the header. By names in lower case. */
const isMethod = (value: string): boolean => !/\b(connect|trace|track)\b/i.test(value)
const VALUE_RULES: Readonly<Record<string, (value: string) => boolean>> = {
  'accept-encoding': (value) => /[^\s,]/.test(value) && !/[*"]/.test(value),
  'x-http-method': isMethod,
  'x-http-method-override': isMethod,
  'x-method-override': isMethod,
  referer: (value) => /^https?:\/\/[^@#]+$/i.test(value.trim()) && URL.canParse(value),
}
const isAllowedValue = ([name, value]: [string, string]): boolean => VALUE_RULES[name.toLowerCase()]?.(value) ?? true

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern excludes control characters
const COOKIE_TEXT = /^[^\x00-\x1f\x7f;]*$/
const COOKIE_FORM = 'must not have semicolons and control characters'

const EXPIRES_FORM =
  'must be Unix time in whole seconds, such as 1798761600: convert other forms, and leave it out for a cookie that ends with the capture'

/** One cookie. Without a domain, only the page's host receives it. */
export const Cookie = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(256)
      .regex(COOKIE_TEXT, COOKIE_FORM)
      .regex(/^[^\s;=,"]+$/, 'must be the name of a cookie, without spaces, quotes, commas, semicolons and =')
      .describe('Name, at most 256 characters.'),
    value: z
      .string()
      .max(COOKIE_BYTES)
      .regex(COOKIE_TEXT, COOKIE_FORM)
      .regex(/^([^ ]|[^ ].*[^ ])?$/s, 'must not begin or end with a space')
      .describe('Value, at most 4096 characters, without spaces at its ends.'),
    domain: z
      .string()
      .max(253)
      .regex(
        /^\.?[A-Za-z0-9][-A-Za-z0-9_]*(\.[-A-Za-z0-9_]+)*$/,
        'must be a host name, such as example.com, and an international one in Punycode, such as xn--bcher-kva.example',
      )
      .describe('Host that receives the cookie; with a leading dot, its subdomains too. Default: the host of the page.')
      .optional(),
    path: z
      .string()
      .max(1024)
      .regex(/^\/[^?#]*$/, 'must begin with /, and have no ? and #')
      .regex(COOKIE_TEXT, COOKIE_FORM)
      .describe('Path prefix that receives the cookie. Default: /.')
      .optional(),
    expires: z
      .number(EXPIRES_FORM)
      .int(EXPIRES_FORM)
      .min(0, EXPIRES_FORM)
      .max(253_402_300_799, EXPIRES_FORM)
      .describe('Expiry as Unix time in seconds. Default: the end of the capture.')
      .optional(),
    httpOnly: z.boolean().describe('Hides the cookie from scripts. Default: false.').optional(),
    secure: z.boolean().describe('Sends the cookie over https only. Default: false.').optional(),
    sameSite: z
      .enum(['Strict', 'Lax', 'None'])
      .describe('Attribute SameSite: Strict, Lax or None. Default: the browser’s default.')
      .optional(),
  })
  .refine(({ name, value }) => name.length + value.length <= COOKIE_BYTES, {
    path: ['value'],
    message: `name and value must be at most ${COOKIE_BYTES} characters together`,
  })
  // Rules of browsers, which drop such a cookie without an error in the page.
  .refine(({ name, secure }) => secure || !/^__(host|secure)-/i.test(name), {
    path: ['secure'],
    message: 'a cookie whose name begins with __Host- or __Secure- needs secure: set it to true',
  })
  .refine(({ name, path = '/', domain = '' }) => !/^__host-/i.test(name) || (path === '/' && !domain.startsWith('.')), {
    path: ['name'],
    message: 'a cookie whose name begins with __Host- is for one host and all paths: leave out domain and path',
  })
  .refine(({ sameSite, secure }) => secure || sameSite !== 'None', {
    path: ['secure'],
    message: 'a cookie with SameSite None needs secure: set it to true, or leave SameSite out',
  })
export type Cookie = z.infer<typeof Cookie>

const HeaderName = z
  .string()
  .max(128)
  .regex(/^[-!#$%&'*+.^_`|~0-9A-Za-z]+$/, 'must be the name of a header: letters, digits and -')
const headerValue = z
  .string()
  .max(HEADER_LENGTH)
  .regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII without line breaks')
/** RFC 7617, 2. */
export const NO_COLON = 'must not have a colon, because servers take it for the end of the user name'

const HEADING = ['Private options', 'Private options are stored encrypted. Records show `***` instead of their values.'] as const
const RULES: OptionRules = { links: 'no', picture: 'yes' }

/** Each private option. */
export const privateGroup = group(HEADING, RULES, {
  headers: declare(
    z
      .record(HeaderName, headerValue)
      .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, { message: `must have at most ${MAX_HEADERS} headers` })
      .refine((headers) => new Set(Object.keys(headers).map((name) => name.toLowerCase())).size === Object.keys(headers).length, {
        message: 'headers must have each name once, because capital and small letters are the same in it: leave one of them out',
      })
      .refine((headers) => Object.keys(headers).every(isAllowedHeader), {
        message:
          'headers must not contain Host, Cookie (use cookies), Cookie2, Set-Cookie, Content-Length, Sec-Fetch-Dest, Sec-Fetch-Site, or a header of the connection or a proxy',
      })
      .refine((headers) => Object.entries(headers).every(isAllowedValue), {
        message:
          'the browser accepts no Accept-Encoding that is empty or has * or quotes, no Referer except an http or https URL without user name and fragment, and no CONNECT, TRACE or TRACK in X-HTTP-Method, X-HTTP-Method-Override or X-Method-Override',
      })
      .meta({ maxProperties: MAX_HEADERS }),
    { example: { 'X-Preview': 'on' } },
  )(
    'Request headers by name, at most 64. The browser sends them to the page’s own origin, unless headers_scope allows more. That of html and markdown is html_base_url.',
  ),
  cookies: list(Cookie, 100, { example: [{ name: 'session', value: '7f3a' }] })('Cookies to set before the page is opened.'),
  authorization: declare(headerValue.min(1), { example: 'Bearer 7f3a' })(
    'Value of the header Authorization, at most 8192 characters. The browser sends it to the page’s own origin, unless headers_scope allows more.',
  ),
  basicAuthUsername: formed(CREDENTIAL_LENGTH, /^[^:]*$/, { form: NO_COLON, example: 'ada' })(
    'User name for HTTP authentication at the page’s own origin, at most 1024 characters, without a colon.',
  ),
  basicAuthPassword: text(CREDENTIAL_LENGTH, { example: 'lovelace' })('Password for basic_auth_username.'),
  localStorage: declare(
    z
      .record(z.string().max(STORAGE_BYTES), z.string().max(STORAGE_BYTES))
      .refine((entries) => new TextEncoder().encode(JSON.stringify(entries)).length <= STORAGE_BYTES, {
        message: 'must be at most 64 KiB as JSON',
      })
      .meta({ maxProperties: 1024 }),
    { example: { theme: 'dark' } },
  )('Entries of localStorage by name, at most 64 KiB in total. They are set for the page’s own origin before its first script.'),
  storageAccessKeyId: filled(STORAGE_KEY_LENGTH, { picture: 'separate', policy: 'storage', example: 'AKIDEXAMPLE' })(
    'Access key id for storage_bucket.',
  ),
  storageSecretAccessKey: filled(STORAGE_KEY_LENGTH, { picture: 'separate', policy: 'storage', example: 'lovelace' })(
    'Secret access key for storage_bucket.',
  ),
  proxyUsername: text(PROXY_CREDENTIAL_LENGTH, { policy: 'proxy', example: 'ada' })('User name for proxy.'),
  proxyPassword: text(PROXY_CREDENTIAL_LENGTH, { policy: 'proxy', example: 'lovelace' })('Password for proxy.'),
})

/** The private options of one capture; unset options are absent. */
export const PrivateOptions = z.strictObject(privateGroup.options).partial()
export type PrivateOptions = z.infer<typeof PrivateOptions>

/**
 * Private options that a gateway has sealed, perhaps one of an earlier version with looser rules. The runner names in a warning what the browser
 * makes no use of.
 */
export const SealedPrivateOptions = PrivateOptions.extend({
  headers: z.record(z.string(), z.string()).optional(),
  cookies: z
    .array(
      z.strictObject({ ...Cookie.shape, name: z.string(), value: z.string(), domain: z.string().optional(), path: z.string().optional() }),
    )
    .optional(),
  basicAuthUsername: z.string().optional(),
})

/** Names of the private options, in camel case. */
export const privateOptionNames: readonly string[] = Object.keys(privateGroup.options)

// The content that the gateway encrypts and the operator decrypts. Options that do not fit in a Kubernetes object are in the bucket, bound to the
// object's name or to the batch that shares them. Private options are in the object itself if they fit, bound to its name and URL.

/** Maximum bytes of JSON for the options of one object. Larger options move to the bucket. */
export const MAX_INLINE_BYTES = 8192

/**
 * Maximum bytes of JSON for the options in the bucket. HTML of 2,097,152 characters has at most 6 MiB in any script. Only control characters need more,
 * and they have no place in a page.
 */
export const MAX_OPTIONS_BYTES = 8 * 1024 * 1024
/** Maximum bytes of such an object: encrypted and in base64, with a margin. */
export const MAX_SEALED_BYTES = 12 * 1024 * 1024

/** The content of `spec.sealedOptions`, and of the object that `spec.optionsObject` names. */
export const SealedOptions = z.strictObject({ options: CaptureOptions.optional(), privateOptions: SealedPrivateOptions.optional() })
export type SealedOptions = z.infer<typeof SealedOptions>

/** Separates the options that may be large. The small ones determine the time limits of a capture and the name of its file. */
export function splitLarge(options: CaptureOptions): { small: CaptureOptions; large: CaptureOptions } {
  const entries = Object.entries(options)
  return {
    small: Object.fromEntries(entries.filter(([name]) => !isLarge(name))),
    large: Object.fromEntries(entries.filter(([name]) => isLarge(name))),
  }
}

/** True if the options fit in a Kubernetes object. A long text does not, and need not be converted to JSON to know it. */
export const areInline = (options: object): boolean =>
  Object.values(options).every((value) => typeof value !== 'string' || value.length <= MAX_INLINE_BYTES) &&
  Buffer.byteLength(JSON.stringify(options)) <= MAX_INLINE_BYTES
