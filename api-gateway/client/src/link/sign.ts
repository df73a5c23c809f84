import { toApiUrl } from '../common/api-url.ts'
import { TintypeError } from '../common/errors.ts'
import type { CaptureOptions, VideoOptions } from '../common/types.ts'
import { encodeRfc3986, signedParameters, toSignedText } from './canonical.ts'

type LinkValue = string | number | boolean

/** Options whose values a link can contain: text, numbers, booleans and lists of them. */
type LinkOptions<Options> = {
  [Name in keyof Options as NonNullable<Options[Name]> extends LinkValue | readonly LinkValue[] ? Name : never]?: Options[Name]
}

/** The page of a link, and how to capture it. A link to a video has a `format` of a video. */
export type LinkParameters = {
  url: string
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

function toQuery({ key, params, expires }: SignLinkOptions): URLSearchParams {
  const query = new URLSearchParams({ key })
  for (const [name, value] of Object.entries(params) as [string, LinkValue | readonly LinkValue[] | undefined][]) {
    if (RESERVED.includes(name)) {
      throw new TintypeError(`params must not contain ${name}. Set it beside params.`, { code: 'INVALID_CONFIGURATION' })
    }
    for (const item of Array.isArray(value) ? value : [value]) if (item !== undefined) query.append(name, String(item))
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
  return `${toApiUrl(options.baseUrl, '/v1')}/take?${parameters.join('&')}&signature=${await linkSignature(query, options.secret)}`
}
