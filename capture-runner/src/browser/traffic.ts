import { hash } from 'node:crypto'
import type { PageEvents } from './devtools.ts'

/** Request types that stay open by design. */
const STREAMS = new Set(['EventSource', 'WebSocket', 'Ping', 'Prefetch', 'CSPViolationReport'])
/** Request types that affect what is painted. */
const PAINTED = new Set(['Image', 'Font', 'Stylesheet'])
/** Request types that bring content. Images and fonts are awaited by themselves. */
const CONTENT = new Set(['Document', 'Stylesheet', 'Script', 'XHR', 'Fetch'])
/** Request types whose response may make the page request more, or belongs to what it shows. Frames are often advertisements. */
const CHAINED = new Set([...PAINTED, ...CONTENT].filter((type) => type !== 'Document'))
const WASM = 'application/wasm'
/** Time between the first and another part of a response after which it counts as a stream. */
const STREAM_MILLISECONDS = 100
/** Times and random numbers in the URL of a poll. */
const TIMES = /\d{5,}/g
/** Characters of a request by which it is compared with others. */
const COMPARED_LENGTH = 2_000

/** The requests of one page and of its dedicated workers, by their events. */
export abstract class Traffic {
  /** Number of requests so far, in all documents. */
  requests = 0
  readonly #inFlight = new Map<string, PendingRequest>()
  /** Hashes of what the document has requested so far: the texts may be data URLs of megabytes. */
  readonly #requested = new Set<string>()
  #newContentAt = Number.NEGATIVE_INFINITY
  /** Streams that may still be open, by request id. */
  readonly #streams = new Set<string>()
  /** When sockets and streams began to wait for data, by request id. */
  readonly #unanswered = new Map<string, number>()
  /** When the last data of a socket, stream or request arrived or was sent, on the runner's clock. */
  #trafficAt = Number.NEGATIVE_INFINITY
  #hasLiveData = false
  /** Start times of the running dedicated workers, by target id. */
  readonly #workers = new Map<string, number>()

  constructor(events: PageEvents) {
    events.on('Network.requestWillBeSent', (event) => this.#request(event))
    events.on('Network.responseReceived', ({ response }) => {
      if (response.mimeType === WASM) this.#hasLiveData = true
    })
    this.#followData(events)
    events.on('Network.loadingFinished', ({ requestId }) => this.#finish(requestId))
    events.on('Network.loadingFailed', ({ requestId }) => this.#finish(requestId))
  }

  /** Called when a request begins or ends. */
  protected abstract onRequests(): void

  /** True while requests other than streams are pending. */
  get isBusy(): boolean {
    return this.#inFlight.size > 0
  }

  /** True while a stream may be open. The page's clock, which stops for requests, would stop forever. */
  get isStreaming(): boolean {
    return this.#streams.size > 0
  }

  /** True while requests are pending that began between these times on the runner's clock. Streams do not count. */
  hasPendingRequests(from: number, to: number): boolean {
    return this.#inFlight.values().some(({ since }) => since >= from && since <= to)
  }

  /** True while requests for something new are pending that began between these times on the runner's clock. A poll requests the same again. */
  hasNewRequests(from: number, to: number): boolean {
    return this.#inFlight.values().some(({ isNew, since }) => isNew && since >= from && since <= to)
  }

  /** When a request for something new last ended, on the runner's clock. */
  get newContentAt(): number {
    return this.#newContentAt
  }

  /** True if a socket or stream has received nothing since it was opened or the page sent something, and that was after this time on the runner's clock. */
  hasUnanswered(from: number): boolean {
    return this.#unanswered.values().some((since) => since >= from)
  }

  /** URLs of pending requests for content that began before this time on the runner's clock. A worker that computes never reports the end of its blob. */
  pendingContent(before: number): string[] {
    const isContent = (type: string, url: string) => CONTENT.has(type) && !url.startsWith('blob:')
    return [...this.#inFlight.values()].flatMap(({ type, url, since }) => (isContent(type, url) && since < before ? [url] : []))
  }

  /** True if the document has a socket, a stream or WebAssembly: it may show more without a request or a timer. */
  get hasLiveData(): boolean {
    return this.#hasLiveData
  }

  /** When data was last sent or received, on the runner's clock. */
  get trafficAt(): number {
    return this.#trafficAt
  }

  /** Start time of the newest running dedicated worker, on the runner's clock; undefined if none runs. */
  get lastWorker(): number | undefined {
    return this.#workers.size === 0 ? undefined : Math.max(...this.#workers.values())
  }

  /** Pending requests for images, fonts and style sheets. */
  get painting(): ReadonlySet<string> {
    return new Set([...this.#inFlight].flatMap(([request, { type }]) => (PAINTED.has(type) ? [request] : [])))
  }

  /** URLs of the pending requests for images, as the page names them. */
  get pendingImages(): string[] {
    return [...this.#inFlight.values()].flatMap(({ type, url }) => (type === 'Image' ? [url] : []))
  }

  /** Number of pending requests other than streams. */
  protected get pendingRequests(): number {
    return this.#inFlight.size
  }

  protected isPending(requestId: string): boolean {
    return this.#inFlight.has(requestId)
  }

  /** Forgets all requests but those of a new document. The browser cancels the others without events. */
  protected forgetOthers(document: string): void {
    for (const [request, { loader }] of this.#inFlight) if (loader !== document) this.#inFlight.delete(request)
    this.#streams.clear()
    this.#unanswered.clear()
    this.#requested.clear()
    this.#hasLiveData = false
  }

  /**
   * Counts the requests of a dedicated worker as the page's. The page's session reports the request of the worker's script. Its end is reported by the
   * worker's session, unless the worker ended before.
   * @param id target id of the worker, which is also the request id of its script
   * @returns a function to call when the worker has ended
   */
  followWorker(events: PageEvents, id: string): () => void {
    this.#workers.set(id, performance.now())
    const requests = new Set([id])
    this.#followData(events)
    events.on('Network.requestWillBeSent', (event) => {
      requests.add(event.requestId)
      this.#request(event)
    })
    const finish = ({ requestId }: { requestId: string }) => {
      requests.delete(requestId)
      this.#finish(requestId)
    }
    events.on('Network.loadingFinished', finish)
    events.on('Network.loadingFailed', finish)
    return () => {
      this.#workers.delete(id)
      for (const request of requests) this.#finish(request)
    }
  }

  #followData(events: PageEvents): void {
    const noteLive = () => {
      this.#hasLiveData = true
      this.#noteTraffic()
    }
    const ask = ({ requestId }: { requestId: string }) => {
      noteLive()
      if (!this.#unanswered.has(requestId)) this.#unanswered.set(requestId, this.#trafficAt)
    }
    const answer = ({ requestId }: { requestId: string }) => {
      noteLive()
      this.#unanswered.delete(requestId)
    }
    events.on('Network.webSocketCreated', ask)
    events.on('Network.webSocketHandshakeResponseReceived', noteLive)
    events.on('Network.webSocketFrameSent', ask)
    events.on('Network.webSocketFrameReceived', answer)
    events.on('Network.webSocketClosed', ({ requestId }) => this.#unanswered.delete(requestId))
    events.on('Network.eventSourceMessageReceived', answer)
    events.on('Network.dataReceived', ({ requestId }) => this.#noteData(requestId))
  }

  #noteData(requestId: string): void {
    this.#noteTraffic()
    const request = this.#inFlight.get(requestId)
    if (!request) return
    request.dataSince ??= this.#trafficAt
    if (this.#trafficAt - request.dataSince > STREAM_MILLISECONDS) this.#hasLiveData = true
  }

  #noteTraffic(): void {
    this.#trafficAt = performance.now()
  }

  #request({ requestId, loaderId, type, request }: RequestEvent): void {
    this.requests += 1
    if (STREAMS.has(type ?? '')) {
      this.#streams.add(requestId)
      if (type !== 'EventSource') return
      this.#hasLiveData = true
      this.#unanswered.set(requestId, performance.now())
      return
    }
    this.#noteTraffic()
    // After a redirect, the page still has the first URL.
    const { url, isNew } = this.#inFlight.get(requestId) ?? { url: request.url, isNew: CHAINED.has(type ?? '') && this.#isFirst(request) }
    this.#inFlight.set(requestId, { loader: loaderId, type: type ?? '', url, isNew, since: this.#trafficAt })
    this.onRequests()
  }

  #isFirst({ method, url, postData = '' }: RequestEvent['request']): boolean {
    const { size } = this.#requested
    const compared = `${method} ${url} ${postData}`.slice(0, COMPARED_LENGTH).replace(TIMES, '')
    return this.#requested.add(hash('sha256', compared)).size > size
  }

  #finish(requestId: string): void {
    this.#streams.delete(requestId)
    this.#unanswered.delete(requestId)
    const request = this.#inFlight.get(requestId)
    if (!request) return
    this.#inFlight.delete(requestId)
    this.#noteTraffic()
    if (request.isNew) this.#newContentAt = this.#trafficAt
    this.onRequests()
  }
}

interface PendingRequest {
  loader: string
  type: string
  url: string
  /** The document has not requested the same before, and may continue with the response. */
  isNew: boolean
  since: number
  dataSince?: number
}

interface RequestEvent {
  requestId: string
  loaderId: string
  type?: string
  request: { method: string; url: string; postData?: string }
}
