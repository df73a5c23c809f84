import { cutText } from '@tintype/crds/text/cut-text'
import type { DevTools, PageEvents } from '../browser/devtools.ts'
import type { HarRequest } from './har.ts'

// Records events for options that need them, beyond what the steps use. Limited in size, because the page determines the number of events.

const MAX_REQUESTS = 2_000
const MAX_MESSAGES = 1_000
const MESSAGE_LENGTH = 2_000

/** One console message. */
export interface ConsoleEntry {
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
