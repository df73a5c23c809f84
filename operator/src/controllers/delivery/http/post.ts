import { FencedError } from '@tintype/crds/runtime/fence'
import { MAX_HEADER_BYTES, TooLongError } from '@tintype/crds/runtime/limited-read'
import { type Dispatcher, request } from 'undici'
import { BlockedAddressError, ProxyError, UnresolvedError } from './guarded-agent.ts'

export interface Post {
  url: string
  headers: Record<string, string>
  body: string
}

export interface PostSettings {
  dispatcher: Dispatcher
  /** Wall clock over name, connection, TLS, request and status line. */
  timeoutMilliseconds: number
}

/** Result of a post. `answered`: the endpoint responded, with any status. */
export interface PostOutcome {
  end: 'answered' | PostFailure
  isSuccess: boolean
  /** 0 without a response. */
  statusCode: number
  /** For the log: reason of the failure. */
  detail: string
  durationMilliseconds: number
  retryAfterMilliseconds?: number
  /** First KiB of the response body, unchanged. */
  excerpt: Buffer
}

const MAX_RESPONSE_BYTES = 16 * 1024
const MAX_EXCERPT_BYTES = 1024

/**
 * Posts once. It throws nothing but a FencedError and does not follow redirects: everything but a 2xx status line within the time limit is a failure. A response whose
 * body stalls after that is still a success. At most 16 KiB of the body are read. The connection limits all other bytes of a response; a response
 * that exceeds this limit is a failure, whatever its status.
 */
export async function post({ url, headers, body }: Post, { dispatcher, timeoutMilliseconds }: PostSettings): Promise<PostOutcome> {
  const started = performance.now()
  const signal = AbortSignal.timeout(timeoutMilliseconds)
  try {
    const response = await request(url, { method: 'POST', headers, body, dispatcher, signal, headersTimeout: 0, bodyTimeout: 0 })
    const durationMilliseconds = performance.now() - started
    const { statusCode } = response
    const isSuccess = statusCode >= 200 && statusCode < 300
    const retryAfterMilliseconds = parseRetryAfter(response.headers, Date.now())
    return {
      end: 'answered',
      isSuccess,
      statusCode,
      detail: isSuccess ? '' : `the endpoint responded with ${statusCode}`,
      durationMilliseconds,
      ...(retryAfterMilliseconds === undefined ? {} : { retryAfterMilliseconds }),
      excerpt: await readStart(response.body),
    }
  } catch (error) {
    if (error instanceof FencedError) throw error
    const { end, detail } = toPostFailure(error)
    return { end, isSuccess: false, statusCode: 0, detail, durationMilliseconds: performance.now() - started, excerpt: Buffer.alloc(0) }
  }
}

/** Reads the body to its end, so that the connection can be reused, or to the limit, which closes it. @throws when it is oversized */
async function readStart(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of body) {
      if (length < MAX_EXCERPT_BYTES) chunks.push(chunk)
      length += chunk.length
      if (length >= MAX_RESPONSE_BYTES) break
    }
  } catch (error) {
    // The status line decides; a body that stalls or breaks off does not matter.
    if (toPostFailure(error).end === 'oversized') throw error
  }
  return Buffer.concat(chunks).subarray(0, MAX_EXCERPT_BYTES)
}

const SECONDS = /^\d{1,6}$/
/** The three forms of RFC 9110. The last one has no zone, and is in UTC. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}(?:,? [\w: -]{10,40} GMT| [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})$/

function parseDate(value: unknown): number {
  const text = typeof value === 'string' ? value.trim() : ''
  if (!HTTP_DATE.test(text)) return Number.NaN
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
}

/**
 * `Retry-After` in milliseconds; undefined for other texts. A date is compared with the `Date` of the response, because the clock of the endpoint
 * may differ. Exported for tests.
 */
export function parseRetryAfter(headers: Readonly<Record<string, string | string[] | undefined>>, now: number): number | undefined {
  const { 'retry-after': value, date } = headers
  if (typeof value === 'string' && SECONDS.test(value.trim())) return Number(value) * 1_000
  const at = parseDate(value)
  if (Number.isNaN(at)) return undefined
  const sent = parseDate(date)
  return Math.max(0, at - (Number.isNaN(sent) ? now : sent))
}

/** Why there was no response: a closed set, fit for a metric label. */
export type PostFailure = 'timeout' | 'blocked' | 'unresolved' | 'tls' | 'proxy' | 'oversized' | 'connection'

/** Codes of OpenSSL's and Node's checks of a certificate. */
const TLS_CODE = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/

const codeOf = (error: unknown): string => {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : ''
}

/** The first error of an AggregateError (happy eyeballs dials several addresses), else the error itself. */
const firstOf = (error: unknown): unknown => (error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error)

/** Common codes in words. The code stays, because people search for it. */
const IN_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing accepts connections at this host and port',
  ECONNRESET: 'the endpoint closed the connection',
  EPIPE: 'the endpoint closed the connection',
  UND_ERR_SOCKET: 'the endpoint closed the connection',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network of the host cannot be reached',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host name',
  HOSTNAME_MISMATCH: 'the certificate is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is signed by itself, not by a trusted authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is not from a trusted authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the certificate is not from a trusted authority, or the endpoint does not send the intermediate certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'the certificate is not from a trusted authority, or the endpoint does not send the intermediate certificate',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the endpoint does not speak TLS at this port',
}

const describe = (code: string, otherwise: string): string => (code === '' ? otherwise : `${IN_WORDS[code] ?? otherwise} (${code})`)

/** Classifies errors of the HTTP client. */
export function toPostFailure(thrown: unknown): { end: PostFailure; detail: string } {
  const error = firstOf(thrown)
  const code = codeOf(error)
  if (error instanceof BlockedAddressError) return { end: 'blocked', detail: error.message }
  if (error instanceof ProxyError) return { end: 'proxy', detail: error.message }
  if (error instanceof UnresolvedError) return { end: 'unresolved', detail: error.message }
  if (error instanceof TooLongError) return { end: 'oversized', detail: error.message }
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return { end: 'oversized', detail: `the endpoint sent more than ${MAX_HEADER_BYTES / 1024} KiB of headers` }
  if (isNamed(error, 'TimeoutError') || code === 'UND_ERR_CONNECT_TIMEOUT') return { end: 'timeout', detail: 'no response in time' }
  if (TLS_CODE.test(code)) return { end: 'tls', detail: describe(code, 'the TLS connection failed') }
  return { end: 'connection', detail: describe(code, 'the connection failed') }
}

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.name === name
