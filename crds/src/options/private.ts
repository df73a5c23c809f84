import { z } from 'zod'

// Options that hold a client's secrets. They are no part of CaptureOptions, so that no object can carry one in the clear: the gateway seals them
// (sealed.ts), kubectl users put them in a Secret, the runner gets them in its encrypted order. Nothing shows more of them than their names.

const MAX_HEADERS = 64
const HEADER_LENGTH = 8192
const CREDENTIAL_LENGTH = 1024
const PROXY_CREDENTIAL_LENGTH = 256
const STORAGE_KEY_LENGTH = 256
const STORAGE_BYTES = 65_536
/** Bytes of name and value that a browser takes. */
const COOKIE_BYTES = 4096

/** Headers that belong to the connection, to the browser or to an option of their own. */
const REFUSED_HEADERS = new Set([
  'connection',
  'content-length',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const isAllowedHeader = (name: string): boolean => !REFUSED_HEADERS.has(name.toLowerCase()) && !/^proxy-/i.test(name)

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is kept out
const COOKIE_TEXT = /^[^\x00-\x1f\x7f;]*$/

/** One cookie. Without a domain it is the page's host's alone. */
export const Cookie = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(256)
      .regex(/^[^\s;=,"]+$/)
      .describe('Name, at most 256 characters.'),
    value: z.string().max(COOKIE_BYTES).regex(COOKIE_TEXT).describe('Value, at most 4096 characters.'),
    domain: z
      .string()
      .max(253)
      .regex(/^\.?[A-Za-z0-9]([-A-Za-z0-9._]*[A-Za-z0-9])?$/)
      .describe('Host that it is sent to; with a leading dot, to its subdomains too. Default: the host of the page.')
      .optional(),
    path: z.string().max(1024).regex(/^\//).regex(COOKIE_TEXT).describe('Paths that it is sent to. Default: /.').optional(),
    expires: z
      .number()
      .int()
      .min(0)
      .max(253_402_300_799)
      .describe('Unix time in seconds at which it ends. Default: with the capture.')
      .optional(),
    httpOnly: z.boolean().describe('Hides it from scripts. Default: false.').optional(),
    secure: z.boolean().describe('Sends it over https only. Default: false.').optional(),
    sameSite: z.enum(['Strict', 'Lax', 'None']).describe('Strict, Lax or None. Default: what the browser takes for unset.').optional(),
  })
  .refine(({ name, value }) => name.length + value.length <= COOKIE_BYTES, {
    path: ['value'],
    message: `name and value must be at most ${COOKIE_BYTES} characters together`,
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
const credential = (what: string, length = CREDENTIAL_LENGTH, least = 0) => z.string().min(least).max(length).describe(what)

/** Each private option. */
export const privateOptions = {
  headers: z
    .record(HeaderName, headerValue)
    .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, { message: `headers must be at most ${MAX_HEADERS}` })
    .refine((headers) => Object.keys(headers).every(isAllowedHeader), {
      message: 'headers must not name Host, Cookie (use cookies), Content-Length, nor a header of the connection or a proxy',
    })
    .meta({ maxProperties: MAX_HEADERS })
    .describe(
      'Request headers, by name, sent to the page’s own origin and for as long as the page is there, unless headers_scope says otherwise. At most 64. Default: none.',
    ),
  cookies: z.array(Cookie).max(100).describe('Cookies that are set before the page is opened, at most 100. Default: none.'),
  authorization: headerValue
    .min(1)
    .describe(
      'Value of the header Authorization, sent to the page’s own origin unless headers_scope says otherwise, at most 8192 characters. Default: none.',
    ),
  basicAuthUsername: credential('User name that a 401 of the page’s own origin is answered with, at most 1024 characters. Default: none.'),
  basicAuthPassword: credential('Password that goes with basic_auth_username, at most 1024 characters. Default: none.'),
  localStorage: z
    .record(z.string().max(STORAGE_BYTES), z.string().max(STORAGE_BYTES))
    .refine((entries) => Buffer.byteLength(JSON.stringify(entries)) <= STORAGE_BYTES, { message: 'must be at most 64 KiB as JSON' })
    .meta({ maxProperties: 1024 })
    .describe(
      'Entries of localStorage, by name, that the page’s own origin finds before its first script, at most 64 KiB in all. Default: none.',
    ),
  storageAccessKeyId: credential(
    'Id of the key that may write to storage_bucket, at most 256 characters. Default: none.',
    STORAGE_KEY_LENGTH,
    1,
  ),
  storageSecretAccessKey: credential('The key’s secret, at most 256 characters. Default: none.', STORAGE_KEY_LENGTH, 1),
  proxyUsername: credential('User name for proxy, at most 256 characters. Default: none.', PROXY_CREDENTIAL_LENGTH),
  proxyPassword: credential('Password for proxy, at most 256 characters. Default: none.', PROXY_CREDENTIAL_LENGTH),
}

/** The private options of one capture, absent unless chosen. */
export const PrivateOptions = z.strictObject(privateOptions).partial()
export type PrivateOptions = z.infer<typeof PrivateOptions>

/** Names of the private options, in camel case. */
export const privateOptionNames: readonly string[] = Object.keys(privateOptions)

/** Two private options that cannot hold together. */
export interface PrivateContradiction {
  /** The option, in camel case, that the error points at. */
  option: keyof PrivateOptions
  message: string
  holds(options: PrivateOptions): boolean
}

const hasAuthorizationHeader = ({ headers = {} }: PrivateOptions): boolean =>
  Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')

/** Judged by the gateway, and by the operator for what a Secret holds. */
export const privateContradictions: readonly PrivateContradiction[] = [
  {
    option: 'basicAuthPassword',
    message: 'basic_auth_username and basic_auth_password go together',
    holds: ({ basicAuthUsername, basicAuthPassword }) => (basicAuthUsername === undefined) !== (basicAuthPassword === undefined),
  },
  {
    option: 'storageSecretAccessKey',
    message: 'storage_access_key_id and storage_secret_access_key go together',
    holds: ({ storageAccessKeyId, storageSecretAccessKey }) =>
      (storageAccessKeyId === undefined) !== (storageSecretAccessKey === undefined),
  },
  {
    option: 'proxyPassword',
    message: 'proxy_password needs proxy_username: give both, or leave proxy_password out',
    holds: ({ proxyUsername, proxyPassword }) => proxyPassword !== undefined && proxyUsername === undefined,
  },
  {
    option: 'authorization',
    message: 'authorization and basic_auth_username exclude each other; credentials in the url count as the latter',
    holds: ({ authorization, basicAuthUsername }) => authorization !== undefined && basicAuthUsername !== undefined,
  },
  {
    option: 'headers',
    message: 'headers must not name Authorization beside authorization or basic_auth_username',
    holds: (options) => hasAuthorizationHeader(options) && (options.authorization !== undefined || options.basicAuthUsername !== undefined),
  },
]
