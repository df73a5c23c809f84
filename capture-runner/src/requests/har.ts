// Builds a HAR 1.2 file without bodies and without secrets: cookies, credentials, the client's own headers.

type Headers = Readonly<Record<string, string>>

/** Data of one request. Times are seconds of the browser's clock. */
export interface HarRequest {
  method: string
  url: string
  headers: Headers
  /** ISO 8601. */
  startedAt: string
  start: number
  type: string
  end?: number
  bytes?: number
  failure?: string
  /** It was served from the batch's cache. */
  isShared?: true
  response?: {
    status: number
    statusText: string
    headers: Headers
    mimeType: string
    protocol?: string
    timing?: {
      dnsStart: number
      dnsEnd: number
      connectStart: number
      connectEnd: number
      sendStart: number
      sendEnd: number
      receiveHeadersEnd: number
    }
  }
}

const SECRET = /^(cookie|set-cookie2?|authorization|proxy-authorization|x-api-key|x-auth-token)$/i

/** Builds the file. @param hidden names of headers with the client's secrets */
export function buildHar(requests: Iterable<HarRequest>, { version, hidden }: { version: string; hidden: readonly string[] }): object {
  const isSecret = (name: string) => SECRET.test(name) || hidden.some((one) => one.toLowerCase() === name.toLowerCase())
  const entries = [...requests].sort((a, b) => a.start - b.start).map((request) => toEntry(request, isSecret))
  return { log: { version: '1.2', creator: { name: 'Tintype', version }, pages: [], entries } }
}

function toEntry(request: HarRequest, isSecret: (name: string) => boolean) {
  const { method, url, startedAt, start, end = start, response, bytes = -1, failure, type, isShared } = request
  const toLines = (headers: Headers) => Object.entries(headers).flatMap(([name, value]) => (isSecret(name) ? [] : [{ name, value }]))
  const httpVersion = response?.protocol ?? 'unknown'
  const queryString = URL.canParse(url) ? [...new URL(url).searchParams].map(([name, value]) => ({ name, value })) : []
  return {
    startedDateTime: startedAt,
    time: Math.round((end - start) * 1_000),
    request: { method, url, httpVersion, cookies: [], headers: toLines(request.headers), queryString, headersSize: -1, bodySize: -1 },
    response: {
      status: response?.status ?? 0,
      statusText: response?.statusText ?? '',
      httpVersion,
      cookies: [],
      headers: toLines(response?.headers ?? {}),
      content: { size: bytes, mimeType: response?.mimeType ?? 'x-unknown' },
      redirectURL: '',
      headersSize: -1,
      bodySize: bytes,
      ...(failure === undefined ? {} : { _error: failure }),
    },
    cache: {},
    timings: toTimings(request),
    _resourceType: type.toLowerCase(),
    ...(isShared ? { _fromCache: 'batch' } : {}),
  }
}

/** In milliseconds; -1 for unknown values. */
function toTimings({ start, end = start, response }: HarRequest) {
  const { timing } = response ?? {}
  if (!timing) return { send: 0, wait: Math.round((end - start) * 1_000), receive: 0 }
  const span = (from: number, to: number) => (from < 0 ? -1 : Math.round(to - from))
  const wait = span(timing.sendEnd, timing.receiveHeadersEnd)
  return {
    dns: span(timing.dnsStart, timing.dnsEnd),
    connect: span(timing.connectStart, timing.connectEnd),
    send: span(timing.sendStart, timing.sendEnd),
    wait,
    receive: Math.max(0, Math.round((end - start) * 1_000 - timing.receiveHeadersEnd)),
  }
}
