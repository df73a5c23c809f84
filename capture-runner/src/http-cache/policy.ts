import CachePolicy from 'http-cache-semantics'

// Which responses captures of a batch may share, and for which requests. The rules of RFC 9111 come from http-cache-semantics; on top of them,
// nothing is stored that could depend on who asks.

type Headers = Readonly<Record<string, string>>

/** A request, with its headers as far as they are known before it is sent. */
export interface SharedRequest {
  method: string
  url: string
  headers: Headers
}

/** What the server answered. */
export interface NetworkResponse {
  status: number
  /** By name in any case; lines of the same name are joined by a line feed, as DevTools does. */
  headers: Headers
}

/** One header line, as DevTools takes it. */
export interface HeaderLine {
  name: string
  value: string
}

/** A response that later captures get. */
export interface StoredResponse {
  policy: CachePolicy
  headers: readonly HeaderLine[]
  /** Without content encoding. */
  body: Buffer
}

/** Resource types that are shared, as DevTools names them. Documents, workers and what scripts fetch are not. */
export const SHARED_TYPES = ['Script', 'Stylesheet', 'Font', 'Image'] as const

/** A request with one of these asks as somebody, or not for the whole resource. */
const PERSONAL = ['authorization', 'cookie', 'range', 'if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range']
/** A response with one of these does more than carry a body. */
const EFFECTIVE = ['set-cookie', 'clear-site-data', 'content-range']
/** What a response may vary by: the browser always sends the same accept-encoding to a URL, and the rest is compared. */
const COMPARED = new Set(['accept', 'accept-encoding', 'origin', 'user-agent'])
/** Headers of one connection. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-authenticate', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

/** True when the request names nobody and asks for a whole resource of the web. */
export function isShareable({ method, url, headers }: SharedRequest): boolean {
  if (method !== 'GET' || !URL.canParse(url)) return false
  const { protocol, username, password } = new URL(url)
  const isWeb = protocol === 'https:' || protocol === 'http:'
  return isWeb && username === '' && password === '' && !hasAny(headers, PERSONAL)
}

/** The policy under which a response may be used again; undefined when it may not be stored. */
export function createPolicy(request: SharedRequest, { status, headers }: NetworkResponse): CachePolicy | undefined {
  if (status !== 200 || !isShareable(request) || hasAny(headers, EFFECTIVE)) return undefined
  const joined = toLowerCaseNames(headers)
  const cacheControl = (joined['cache-control'] ?? '').toLowerCase()
  if (/\b(private|no-store|no-cache)\b/.test(cacheControl)) return undefined
  // Without a stated lifetime a response is only guessed to be fresh.
  if (!/\b(immutable|max-age)\b/.test(cacheControl) && joined.expires === undefined) return undefined
  if (!varyNames(joined).every((name) => COMPARED.has(name))) return undefined
  const asked = toPolicyRequest(request)
  const response = { status, headers: { ...joined, ...(cacheControl === '' ? {} : { 'cache-control': cacheControl }) } }
  // A browser's cache: s-maxage is not for it. What is private has been refused above.
  const policy = new CachePolicy(asked, response, { shared: false, cacheHeuristic: 0 })
  return policy.storable() && policy.satisfiesWithoutRevalidation(asked) ? policy : undefined
}

/** True when a stored response is fresh and answers this request too. */
export const isUsable = ({ policy }: StoredResponse, request: SharedRequest): boolean =>
  isShareable(request) && policy.satisfiesWithoutRevalidation(toPolicyRequest(request))

/** The header lines of a response without those of its connection. */
export const toHeaderLines = (headers: Headers): HeaderLine[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith(':') || HOP_BY_HOP.has(name.toLowerCase()) ? [] : value.split('\n').map((line) => ({ name, value: line })),
  )

/**
 * The bytes of a body that the browser gives as text or as base64; undefined when they may not be those that were loaded. Text has been decoded:
 * it stands for the same bytes only if it is as long in UTF-8 and holds no replacement character.
 * @param length bytes that were loaded
 */
export function toBytes({ body, base64Encoded }: { body: string; base64Encoded: boolean }, length: number): Buffer | undefined {
  const bytes = Buffer.from(body, base64Encoded ? 'base64' : 'utf8')
  const isSame = bytes.length === length && (base64Encoded || !body.includes('\uFFFD'))
  return isSame ? bytes : undefined
}

const hasAny = (headers: Headers, names: readonly string[]): boolean =>
  Object.keys(headers).some((name) => names.includes(name.toLowerCase()))

const toLowerCaseNames = (headers: Headers): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.replaceAll('\n', ', ')]))

const varyNames = ({ vary = '' }: Headers): string[] =>
  vary
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '')

const toPolicyRequest = ({ method, url, headers }: SharedRequest) => ({ method, url, headers: toLowerCaseNames(headers) })
