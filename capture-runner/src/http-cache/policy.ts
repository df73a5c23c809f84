import CachePolicy from 'http-cache-semantics'

// Decides which responses captures of a batch may share, and for which requests. http-cache-semantics implements RFC 9111. In addition, nothing is stored
// that could depend on the user.

type Headers = Readonly<Record<string, string>>

/** A request, with the headers that are known before it is sent. */
export interface SharedRequest {
  method: string
  url: string
  headers: Headers
}

/** A response from the server. */
export interface NetworkResponse {
  status: number
  /** Names in any case. Values of the same name are joined by a line feed, as in DevTools. */
  headers: Headers
}

/** One header line, as DevTools expects it. */
export interface HeaderLine {
  name: string
  value: string
}

/** A response for later captures. */
export interface StoredResponse {
  policy: CachePolicy
  headers: readonly HeaderLine[]
  /** Without content encoding. */
  body: Buffer
}

/** Shared resource types, as DevTools names them. Documents, workers and fetches by scripts are not shared. */
export const SHARED_TYPES = ['Script', 'Stylesheet', 'Font', 'Image'] as const

/** Request headers that identify a user or request only a part of the resource. */
const PERSONAL = ['authorization', 'cookie', 'range', 'if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range']
/** Response headers with an effect besides the body. */
const EFFECTIVE = ['set-cookie', 'clear-site-data', 'content-range']
/** Allowed names in Vary. The browser always sends the same accept-encoding for a URL; the others are compared. */
const COMPARED = new Set(['accept', 'accept-encoding', 'origin', 'user-agent'])
/** Headers of a single connection. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-authenticate', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

/** True if the request identifies no user and requests a whole resource over http or https. */
export function isShareable({ method, url, headers }: SharedRequest): boolean {
  if (method !== 'GET' || !URL.canParse(url)) return false
  const { protocol, username, password } = new URL(url)
  const isWeb = protocol === 'https:' || protocol === 'http:'
  return isWeb && username === '' && password === '' && !hasAny(headers, PERSONAL)
}

/** The policy for reusing a response; undefined if it must not be stored. */
export function createPolicy(request: SharedRequest, { status, headers }: NetworkResponse): CachePolicy | undefined {
  if (status !== 200 || !isShareable(request) || hasAny(headers, EFFECTIVE)) return undefined
  const joined = toLowerCaseNames(headers)
  const cacheControl = (joined['cache-control'] ?? '').toLowerCase()
  if (/\b(private|no-store|no-cache)\b/.test(cacheControl)) return undefined
  // Without an explicit lifetime, freshness would be a guess.
  if (!/\b(immutable|max-age)\b/.test(cacheControl) && joined.expires === undefined) return undefined
  if (!varyNames(joined).every((name) => COMPARED.has(name))) return undefined
  const policyRequest = toPolicyRequest(request)
  const response = { status, headers: { ...joined, ...(cacheControl === '' ? {} : { 'cache-control': cacheControl }) } }
  // As for a browser's cache, s-maxage does not apply. Private responses are rejected above.
  const policy = new CachePolicy(policyRequest, response, { shared: false, cacheHeuristic: 0 })
  return policy.storable() && policy.satisfiesWithoutRevalidation(policyRequest) ? policy : undefined
}

/** True if a stored response is fresh and matches this request. */
export const isUsable = ({ policy }: StoredResponse, request: SharedRequest): boolean =>
  isShareable(request) && policy.satisfiesWithoutRevalidation(toPolicyRequest(request))

/** The header lines of a response without hop-by-hop headers. */
export const toHeaderLines = (headers: Headers): HeaderLine[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith(':') || HOP_BY_HOP.has(name.toLowerCase()) ? [] : value.split('\n').map((line) => ({ name, value: line })),
  )

/**
 * The bytes of a body that the browser returns as text or base64; undefined if they may differ from the loaded bytes. Text was decoded by the
 * browser. It equals the original only if it has the same length in UTF-8 and no replacement character.
 * @param length number of loaded bytes
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
