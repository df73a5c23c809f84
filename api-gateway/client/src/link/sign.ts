import { toApiUrl } from '../common/api-url.ts'
import { TintypeError } from '../common/errors.ts'
import type { CaptureOptions, VideoOptions } from '../common/types.ts'
import { LINK_OPTIONS, MAX_LINK_LENGTH, NOT_IN_LINKS, REFUSED_VALUES } from '../generated/links.ts'
import { encodeRfc3986, signedParameters, toSignedText } from './canonical.ts'

type LinkValue = string | number | boolean | object

/** Options that links can have. Objects, such as `media_features`, are written as JSON. */
type LinkOptions<Options> = { [Name in keyof Options & (typeof LINK_OPTIONS)[number]]?: Options[Name] }

/** The page of a link, and how to capture it. A link to a video has a `format` of a video. */
export type LinkParameters = {
  /** The page. `html` or `markdown` can replace it. */
  url?: string
  /** `image`: the response to an error is a picture of the error code. */
  on_error?: 'image' | undefined
} & (LinkOptions<CaptureOptions> | (LinkOptions<VideoOptions> & { format: NonNullable<VideoOptions['format']> }))

export interface SignLinkOptions {
  baseUrl: string
  /** Id of the API key, `key_…`. It is part of the link, and is not secret. */
  key: string
  /** The link secret of that key, `lsk_…`. */
  secret: string
  params: LinkParameters
  /** Time from which the link does not work, as a date or in Unix seconds. Default: never. */
  expires?: Date | number | undefined
}

const RESERVED = ['key', 'expires', 'signature']
const OWN_NAMES = ['url', 'on_error']

const includes = (names: readonly string[], name: string): boolean => names.includes(name)

const misused = (message: string): TintypeError => new TintypeError(message, { code: 'INVALID_CONFIGURATION' })
const notAllowed = (message: string): TintypeError => new TintypeError(message, { code: 'OPTION_NOT_ALLOWED' })

/** Refuses what the service would refuse when somebody opens the link. */
function assertParameter(name: string, value: unknown): void {
  if (RESERVED.includes(name)) throw misused(`params must not contain ${name}. Set it beside params.`)
  if (includes(NOT_IN_LINKS, name) || REFUSED_VALUES[name] === value) {
    throw notAllowed(`a link cannot have ${name}${includes(NOT_IN_LINKS, name) ? '' : `: ${value}`}. Create a screenshot instead.`)
  }
  if (!includes(LINK_OPTIONS, name) && !includes(OWN_NAMES, name)) {
    throw misused(`params must not contain ${name}, which is no option of this version. Check its spelling, or update the client.`)
  }
  if (name === 'on_error' && value !== 'image') throw misused('on_error must be image.')
}

function assertPage({ url, html, markdown }: { url?: unknown; html?: unknown; markdown?: unknown }): void {
  if (url === undefined && html === undefined && markdown === undefined)
    throw misused('a link needs url, html or markdown. Add one of them.')
  const { username = '', password = '' } = (typeof url === 'string' && URL.parse(url)) || {}
  if (username + password !== '')
    throw notAllowed('the url of a link must not contain a user name or password. Create a screenshot instead.')
}

/** The text of a value in a query. Objects are JSON, as in the service. */
const toText = (value: LinkValue): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))

function toQuery({ key, params, expires }: SignLinkOptions): URLSearchParams {
  const query = new URLSearchParams({ key })
  assertPage(params as Record<string, unknown>)
  for (const [name, value] of Object.entries(params) as [string, LinkValue | readonly LinkValue[] | undefined][]) {
    if (value === undefined) continue
    assertParameter(name, value)
    for (const item of Array.isArray(value) ? value : [value]) if (item !== undefined) query.append(name, toText(item))
  }
  if (expires !== undefined) query.set('expires', String(Math.floor(expires instanceof Date ? expires.getTime() / 1_000 : expires)))
  return query
}

/** Lower-case hexadecimal HMAC-SHA256 of the canonical form of a query. */
export async function linkSignature(query: string | URLSearchParams, secret: string): Promise<string> {
  const encoder = new TextEncoder()
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', key, encoder.encode(toSignedText(query)))
  return Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Builds the URL of a picture that needs no API key: for `<img src>`, Markdown and email. Sign links on your server, because the secret must not be
 * in a web page.
 */
export async function signLink(options: SignLinkOptions): Promise<string> {
  if (options.key === '' || options.secret === '') {
    throw new TintypeError('key or secret is empty. Set them to the id and the link secret of an API key.', {
      code: 'INVALID_CONFIGURATION',
    })
  }
  const query = toQuery(options)
  // The order of lists matters to the capture, so the URL keeps it; only the signed text is sorted.
  const parameters = signedParameters(query).map(([name, value]) => `${encodeRfc3986(name)}=${encodeRfc3986(value)}`)
  const text = `${parameters.join('&')}&signature=${await linkSignature(query, options.secret)}`
  if (text.length > MAX_LINK_LENGTH) {
    throw misused(`the query of a link has at most ${MAX_LINK_LENGTH} characters, but has ${text.length}. Create a screenshot instead.`)
  }
  return `${toApiUrl(options.baseUrl, '/v1')}/take?${text}`
}
