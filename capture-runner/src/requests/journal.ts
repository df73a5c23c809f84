import { cutText } from '@tintype/crds/text/cut-text'
import type { DevTools, PageEvents } from '../browser/devtools.ts'

// Records events for options that need them, beyond what the steps use. Limited in size, because the page determines the number of events.

const MAX_REQUESTS = 2_000
const MAX_MESSAGES = 1_000
const MESSAGE_LENGTH = 2_000

/** One console message. */
interface ConsoleEntry {
  /** log, warning, error, exception and others. */
  level: string
  text: string
  /** ISO 8601. */
  time: string
  url?: string
  line?: number
}

/** Recorded events of one page. */
export class Journal {
  /** URLs of the main frame's documents, including redirects, oldest first. */
  readonly documents: string[] = []
  /** Response headers of the last document. */
  headers: Readonly<Record<string, string>> = {}
  readonly console: ConsoleEntry[] = []
  readonly requests = new Map<string, HarRequest>()
  readonly #hops = new Map<string, number>()
  readonly #shared: ReadonlySet<string>

  /** @param shared ids of requests that were served from the batch's cache */
  constructor(shared: ReadonlySet<string> = new Set()) {
    this.#shared = shared
  }

  /** Starts to record documents and, if `isEvery`, all requests. */
  followNetwork(events: PageEvents, mainFrame: string, isEvery: boolean): void {
    events.on('Network.requestWillBeSent', ({ requestId, loaderId, frameId, request, redirectResponse, wallTime, timestamp, type }) => {
      if (frameId === mainFrame && requestId === loaderId) this.documents.push(request.url)
      if (!isEvery || this.requests.size >= MAX_REQUESTS) return
      if (redirectResponse) this.#redirect(requestId, redirectResponse, timestamp)
      const startedAt = new Date(wallTime * 1_000).toISOString()
      const { method, url, headers } = request
      this.requests.set(requestId, { method, url, headers, startedAt, start: timestamp, type: type ?? 'Other' })
    })
    events.on('Network.responseReceived', ({ requestId, loaderId, frameId, response }) => {
      if (frameId === mainFrame && requestId === loaderId) this.headers = response.headers
      const known = this.requests.get(requestId)
      if (known) known.response = response
      if (known && this.#shared.has(requestId)) known.isShared = true
    })
    events.on('Network.loadingFinished', ({ requestId, timestamp, encodedDataLength }) => {
      const known = this.requests.get(requestId)
      // Chromium counts the bytes that it was given, which did not come from the network.
      if (known) Object.assign(known, { end: timestamp, bytes: known.isShared ? 0 : encodedDataLength })
    })
    events.on('Network.loadingFailed', ({ requestId, timestamp, errorText }) => {
      const known = this.requests.get(requestId)
      if (known) Object.assign(known, { end: timestamp, failure: errorText })
    })
  }

  /** Starts to record console messages and uncaught errors. */
  followConsole(session: DevTools): void {
    session.on('Runtime.consoleAPICalled', ({ type, args, timestamp, stackTrace }) => {
      const text = args.map(({ value, description, unserializableValue }) => unserializableValue ?? description ?? toText(value)).join(' ')
      this.#say({ level: type, text, ...placeOf(stackTrace?.callFrames[0]) }, timestamp)
    })
    session.on('Runtime.exceptionThrown', ({ timestamp, exceptionDetails }) => {
      const text = exceptionDetails.exception?.description ?? exceptionDetails.text
      this.#say({ level: 'exception', text, ...placeOf(exceptionDetails) }, timestamp)
    })
    session.on('Log.entryAdded', ({ entry }) => {
      this.#say({ level: entry.level, text: entry.text, ...placeOf(entry) }, entry.timestamp)
    })
  }

  /** A redirected request keeps its id, so the part before the redirect gets a key of its own. */
  #redirect(requestId: string, response: NonNullable<HarRequest['response']>, end: number): void {
    const known = this.requests.get(requestId)
    if (!known) return
    const hop = (this.#hops.get(requestId) ?? 0) + 1
    this.#hops.set(requestId, hop)
    this.requests.delete(requestId)
    this.requests.set(`${requestId}#${hop}`, { ...known, response, end })
  }

  #say(entry: Omit<ConsoleEntry, 'time'>, timestamp: number): void {
    if (this.console.length >= MAX_MESSAGES) return
    this.console.push({ ...entry, text: cutText(entry.text, MESSAGE_LENGTH), time: new Date(timestamp).toISOString() })
  }
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined'))

const placeOf = ({ url, lineNumber }: { url?: string; lineNumber?: number } = {}) => ({
  ...(url ? { url } : {}),
  ...(lineNumber === undefined ? {} : { line: lineNumber + 1 }),
})

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
