import { hash } from 'node:crypto'
import type { WaitState } from '@tintype/crds/options/page/loading'
import { abortable } from '../runtime/race.ts'
import type { PageEvents } from './devtools.ts'

// Tracks the main frame by DevTools events. Playwright's own waiting follows one navigation. A capture must follow all navigations by scripts and
// refreshes, and must never take a screenshot in between or of the browser's own error page.

/** Default condition for `networkidle`. */
const QUIET = { milliseconds: 500, maxRequests: 0 }
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
/** Number of documents after which the page counts as a redirect loop; the browser's own limit for HTTP redirects. */
const MAX_DOCUMENTS = 20

/** Longest delay of a meta refresh that the capture waits for. */
const MAX_REFRESH_SECONDS = 3
/** How long after its due time a refresh may begin. */
const REFRESH_GRACE_MILLISECONDS = 1_000
const REFRESHES = new Set(['metaTagRefresh', 'httpHeaderRefresh'])

/** Why the main frame could not load the page. */
export interface MainFailure {
  url: string
  /** Chromium's code such as `net::ERR_CONNECTION_RESET`; absent if only the error page was seen. */
  netError?: string
  kind: 'network' | 'loop'
}

/** The response of the current document. */
export interface MainResponse {
  status: number
  url: string
  /** As the browser determined it, in lower case. */
  mimeType: string
  isAttachment: boolean
}

/** Tracks the main frame of one page by its events. */
export class Lifecycle {
  /** Loader id of the current document; undefined before the first one. */
  document: string | undefined
  failure: MainFailure | undefined
  response: MainResponse | undefined
  /** The response of the last document that the browser downloaded instead of showing it. */
  download: MainResponse | undefined
  /** Chromium's error code if the response of the current document broke off. */
  brokenOff: string | undefined
  /** Number of requests so far, in all documents. */
  requests = 0
  /** Condition for `networkidle`: this many milliseconds with at most this many pending requests. Set it before the page opens. */
  quiet: { milliseconds: number; maxRequests: number } = QUIET
  readonly #mainFrame: string
  readonly #responses = new Map<string, MainResponse>()
  /** Error codes of documents whose response broke off after its headers, by loader id. */
  readonly #broken = new Map<string, string>()
  readonly #reached = new Set<string>()
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
  readonly #listeners = new Set<() => void>()
  #pending: { loader: string; url: string } | undefined
  #documents = 0
  #clock: NodeJS.Timeout | undefined
  /** URL of the current document. */
  #url = ''
  /** Ends the wait for a refresh that does not begin. */
  #refresh: NodeJS.Timeout | undefined
  /** When the refresh is due, on the runner's clock. */
  #refreshAt = 0

  /** @param mainFrame id of the main frame, which equals the page's target id and stays the same over navigations */
  constructor(events: PageEvents, mainFrame: string) {
    this.#mainFrame = mainFrame
    events.on('Page.frameStartedNavigating', ({ frameId, loaderId, url, navigationType }) => {
      if (frameId === mainFrame && !navigationType.includes('ameDocument')) this.#start(loaderId, url)
    })
    events.on('Page.frameScheduledNavigation', ({ frameId, delay, reason, url }) => {
      const isSoon = frameId === mainFrame && REFRESHES.has(reason) && delay <= MAX_REFRESH_SECONDS
      // A page that refreshes itself would show the same content.
      if (isSoon && withoutHash(url) !== withoutHash(this.#url)) this.#expectRefresh(delay)
    })
    events.on('Page.frameClearedScheduledNavigation', ({ frameId }) => {
      // The page canceled the refresh. When it is cleared at its due time, it is about to begin.
      if (frameId === mainFrame && performance.now() < this.#refreshAt - REFRESH_GRACE_MILLISECONDS / 2) this.#endRefresh()
    })
    events.on('Page.frameNavigated', ({ frame }) => {
      if (frame.id === mainFrame) this.#commit(frame.loaderId, frame.url, frame.unreachableUrl)
    })
    events.on('Page.lifecycleEvent', ({ frameId, loaderId, name }) => {
      if (frameId === mainFrame && loaderId === this.document) this.#reach(name.toLowerCase())
    })
    events.on('Page.frameStoppedLoading', ({ frameId }) => {
      if (frameId === mainFrame) this.#stop()
    })
    events.on('Network.requestWillBeSent', (event) => this.#request(event))
    events.on('Network.responseReceived', ({ requestId, frameId, response }) => {
      if (frameId === mainFrame && requestId === this.#pending?.loader) {
        this.#responses.set(requestId, toMainResponse(response))
      } else if (response.mimeType === WASM) this.#hasLiveData = true
    })
    this.#followTraffic(events)
    events.on('Network.loadingFinished', ({ requestId }) => this.#finish(requestId))
    events.on('Network.loadingFailed', ({ requestId, errorText, canceled }) => {
      if (requestId === this.#pending?.loader) this.#handleLoadFailure(this.#pending, errorText, canceled)
      else if (requestId === this.document && !canceled) this.brokenOff = errorText
      this.#finish(requestId)
      this.#notify()
    })
  }

  /** True while the main frame navigates to another document, or a refresh is due. */
  get isMoving(): boolean {
    return this.isNavigating || this.#refresh !== undefined
  }

  /** True while the main frame navigates to another document. */
  get isNavigating(): boolean {
    return this.#pending !== undefined
  }

  /** URL to which the main frame navigates. */
  get destination(): string | undefined {
    return this.#pending?.url
  }

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

  /** States that the current document has not reached. */
  missing(states: readonly WaitState[]): WaitState[] {
    return states.filter((state) => !this.#reached.has(state))
  }

  /** Waits until the document has reached all `states` without a pending navigation, or has failed. @throws the signal's reason */
  reach(states: readonly WaitState[], signal: AbortSignal): Promise<void> {
    return this.#until(
      () => this.failure !== undefined || (this.document !== undefined && !this.isMoving && this.missing(states).length === 0),
      signal,
    )
  }

  /**
   * Waits until the main frame requests another document. From then on the browser delays commands to the current document until the navigation
   * commits or fails.
   * @throws the signal's reason
   */
  leave(signal: AbortSignal): Promise<void> {
    return this.#until(() => this.#pending !== undefined, signal)
  }

  async #until(isSo: () => boolean, signal: AbortSignal): Promise<void> {
    if (isSo()) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const listener = () => isSo() && resolve()
    this.#listeners.add(listener)
    try {
      await abortable(promise, signal)
    } finally {
      this.#listeners.delete(listener)
    }
  }

  /** Marks states of the current document as reached, so that later steps do not wait for them. */
  markReached(states: readonly WaitState[]): void {
    for (const state of states) this.#reached.add(state)
    this.#notify()
  }

  /** Clears `networkidle`, so that it must be reached again. */
  resetNetworkIdle(): void {
    this.#reached.delete('networkidle')
    this.#restartClock()
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
    this.#followTraffic(events)
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

  /** Clears the timers and listeners. */
  dispose(): void {
    clearTimeout(this.#clock)
    clearTimeout(this.#refresh)
    this.#listeners.clear()
  }

  #start(loader: string, url: string): void {
    this.#pending = { loader, url }
    clearTimeout(this.#refresh)
    this.#refresh = undefined
    if (++this.#documents > MAX_DOCUMENTS) this.#fail({ url, kind: 'loop' })
    this.#notify()
  }

  #expectRefresh(seconds: number): void {
    clearTimeout(this.#refresh)
    this.#refreshAt = performance.now() + seconds * 1_000
    this.#refresh = setTimeout(() => this.#endRefresh(), seconds * 1_000 + REFRESH_GRACE_MILLISECONDS)
  }

  #endRefresh(): void {
    clearTimeout(this.#refresh)
    this.#refresh = undefined
    this.#notify()
  }

  /** Handles the failure of a document that has not been committed. */
  #handleLoadFailure({ loader, url }: { loader: string; url: string }, netError: string, isCanceled: boolean | undefined): void {
    if (isCanceled) {
      // A download, or a response without content. The previous document stays.
      this.download = this.#responses.get(loader)
      this.#pending = undefined
    } else if (this.#responses.has(loader)) {
      // The browser shows the received part, or its error page.
      this.#broken.set(loader, netError)
    } else this.#fail({ url, netError, kind: 'network' })
  }

  #commit(loader: string, url: string, unreachableUrl: string | undefined): void {
    this.#url = url
    const netError = this.#broken.get(loader)
    if (unreachableUrl !== undefined) this.#fail({ url: unreachableUrl, kind: 'network', ...(netError === undefined ? {} : { netError }) })
    this.document = loader
    this.response = this.#responses.get(loader)
    this.brokenOff = netError
    this.#responses.clear()
    this.#broken.clear()
    // The browser cancels requests of the previous document without events.
    for (const [request, of] of this.#inFlight) if (of.loader !== loader) this.#inFlight.delete(request)
    this.#streams.clear()
    this.#unanswered.clear()
    this.#requested.clear()
    this.#hasLiveData = false
    this.#reached.clear()
    this.#reached.add('commit')
    if (this.#pending?.loader === loader) this.#pending = undefined
    this.#restartClock()
    this.#notify()
  }

  #stop(): void {
    // A navigation that ended before its first request.
    if (this.#pending && this.#pending.loader !== this.document && !this.#inFlight.has(this.#pending.loader)) this.#pending = undefined
    // A document that started a download gets no load event. It has everything it will ever have.
    if (this.document !== undefined && !this.#pending) this.#reached.add('domcontentloaded').add('load')
    this.#notify()
  }

  #reach(name: string): void {
    // Chromium's own networkIdle ignores requests that begin later, so requests are counted here.
    if (name !== 'networkidle') this.#reached.add(name)
    this.#notify()
  }

  #fail(failure: MainFailure): void {
    this.failure ??= failure
    this.#notify()
  }

  #followTraffic(events: PageEvents): void {
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

  #request({ requestId, loaderId, frameId, type, request }: RequestEvent): void {
    this.requests += 1
    if (this.#pending?.loader === requestId && frameId === this.#mainFrame) this.#pending.url = request.url
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
    this.#watchQuiet()
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
    this.#watchQuiet()
  }

  #restartClock(): void {
    clearTimeout(this.#clock)
    this.#clock = undefined
    this.#watchQuiet()
  }

  /** The timer runs while the number of pending requests is within the limit. */
  #watchQuiet(): void {
    const isQuiet = this.#inFlight.size <= this.quiet.maxRequests && !this.#reached.has('networkidle')
    if (isQuiet && this.#clock !== undefined) return
    clearTimeout(this.#clock)
    this.#clock = isQuiet ? setTimeout(() => this.#markIdle(), this.quiet.milliseconds) : undefined
  }

  #markIdle(): void {
    this.#clock = undefined
    this.#reached.add('networkidle')
    this.#notify()
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
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

const withoutHash = (url: string): string => url.split('#', 1)[0] ?? ''

function toMainResponse({ status, url, mimeType, headers }: ResponseEvent): MainResponse {
  const disposition = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-disposition')?.[1] ?? ''
  return { status, url, mimeType: mimeType.toLowerCase(), isAttachment: /^\s*attachment/i.test(disposition) }
}

interface ResponseEvent {
  status: number
  url: string
  mimeType: string
  headers: Readonly<Record<string, string>>
}

interface RequestEvent {
  requestId: string
  loaderId: string
  frameId?: string
  type?: string
  request: { method: string; url: string; postData?: string }
}
