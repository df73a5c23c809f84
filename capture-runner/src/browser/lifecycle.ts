import type { WaitState } from '@tintype/crds/options/page/waiting'
import { raced } from '../runtime/race.ts'
import type { PageEvents } from './page-events.ts'

// What the main frame is doing, told by DevTools events. Playwright's own waiting follows one navigation; a capture must follow the page to
// where scripts and refreshes take it, and must never photograph the page in between or the browser's own error page.

/** What counts as `networkidle` unless told otherwise. */
const QUIET = { milliseconds: 500, maxRequests: 0 }
/** Streams that stay open by design. */
const STREAMS = new Set(['EventSource', 'WebSocket', 'Ping', 'Prefetch', 'CSPViolationReport'])
/** What a page is painted with. */
const PAINTED = new Set(['Image', 'Font', 'Stylesheet'])
/** Documents after which a page counts as redirecting in a circle; the browser's own limit for HTTP redirects. */
const MAX_DOCUMENTS = 20

/** Seconds within which a refresh that the page announces is waited for. */
const MAX_REFRESH_SECONDS = 3
/** Milliseconds after its time in which a refresh must begin. */
const REFRESH_GRACE_MILLISECONDS = 1_000
const REFRESHES = new Set(['metaTagRefresh', 'httpHeaderRefresh'])

/** Why the main frame shows no page of its own. */
export interface MainFailure {
  url: string
  /** Chromium's code such as `net::ERR_CONNECTION_RESET`; absent when only its error page was seen. */
  netError?: string
  kind: 'network' | 'circle'
}

/** The answer that the current document came with. */
export interface MainResponse {
  status: number
  url: string
  /** As the browser takes it, in lower case. */
  mimeType: string
  isAttachment: boolean
}

/** Follows the main frame of one page through its events. */
export class Lifecycle {
  /** Loader of the document that is shown; undefined until one is. */
  document: string | undefined
  failure: MainFailure | undefined
  response: MainResponse | undefined
  /** The answer of the last document that the browser saved instead of showing. */
  download: MainResponse | undefined
  /** Chromium's code for the way in which the response of the shown document broke off. */
  brokenOff: string | undefined
  /** Requests seen so far, of all documents. */
  requests = 0
  /** What counts as `networkidle`: so many milliseconds with no more than so many requests under way. To be set before the page is opened. */
  quiet: { milliseconds: number; maxRequests: number } = QUIET
  readonly #mainFrame: string
  readonly #responses = new Map<string, MainResponse>()
  /** Chromium's codes for documents whose response broke off after its head, by loader. */
  readonly #broken = new Map<string, string>()
  readonly #reached = new Set<string>()
  readonly #inFlight = new Map<string, { loader: string; isPainted: boolean; since: number }>()
  /** Streams that may still be open, by request. */
  readonly #streams = new Set<string>()
  /** When the dedicated workers that run were started, by target. */
  readonly #workers = new Map<string, number>()
  readonly #listeners = new Set<() => void>()
  #pending: { loader: string; url: string } | undefined
  #documents = 0
  #clock: NodeJS.Timeout | undefined
  /** URL of the shown document. */
  #url = ''
  /** Ends the wait for a refresh that does not come. */
  #refresh: NodeJS.Timeout | undefined
  /** When it is due, by the runner's clock. */
  #refreshAt = 0

  /** @param mainFrame id of the main frame; it is the page's target id and stays the same over navigations */
  constructor(events: PageEvents, mainFrame: string) {
    this.#mainFrame = mainFrame
    events.on('Page.frameStartedNavigating', ({ frameId, loaderId, url, navigationType }) => {
      if (frameId === mainFrame && !navigationType.includes('ameDocument')) this.#start(loaderId, url)
    })
    events.on('Page.frameScheduledNavigation', ({ frameId, delay, reason, url }) => {
      const isSoon = frameId === mainFrame && REFRESHES.has(reason) && delay <= MAX_REFRESH_SECONDS
      // A page that only refreshes itself has nothing else to show.
      if (isSoon && withoutHash(url) !== withoutHash(this.#url)) this.#expectRefresh(delay)
    })
    events.on('Page.frameClearedScheduledNavigation', ({ frameId }) => {
      // Taken back. What is cleared at its time is about to begin.
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
      }
    })
    events.on('Network.loadingFinished', ({ requestId }) => this.#finish(requestId))
    events.on('Network.loadingFailed', ({ requestId, errorText, canceled }) => {
      if (requestId === this.#pending?.loader) this.#lose(this.#pending, errorText, canceled)
      else if (requestId === this.document && !canceled) this.brokenOff = errorText
      this.#finish(requestId)
      this.#tell()
    })
  }

  /** True while the main frame is on its way to another document, or about to leave by a refresh. */
  get isMoving(): boolean {
    return this.#pending !== undefined || this.#refresh !== undefined
  }

  /** True while requests are under way, other than streams. */
  get isBusy(): boolean {
    return this.#inFlight.size > 0
  }

  /** True while a stream may be open. The page's clock, which stops for requests, would stop for it for ever. */
  get isStreaming(): boolean {
    return this.#streams.size > 0
  }

  /** True while requests are under way that began between these moments of the runner's clock. Streams do not count. */
  hasPendingRequests(from: number, to: number): boolean {
    return this.#inFlight.values().some(({ since }) => since >= from && since <= to)
  }

  /** When the last of the dedicated workers that run was started, on the runner's clock; undefined: none runs. */
  get lastWorker(): number | undefined {
    return this.#workers.size === 0 ? undefined : Math.max(...this.#workers.values())
  }

  /** Requests under way for images, fonts and style sheets. */
  get painting(): ReadonlySet<string> {
    return new Set([...this.#inFlight].flatMap(([request, { isPainted }]) => (isPainted ? [request] : [])))
  }

  /** The states that the current document has not reached. */
  missing(states: readonly WaitState[]): WaitState[] {
    return states.filter((state) => !this.#reached.has(state))
  }

  /** Waits until the shown document has reached all `states` and stays where it is, or has failed. @throws the signal's reason */
  async reach(states: readonly WaitState[], signal: AbortSignal): Promise<void> {
    const isThere = () => this.failure !== undefined || (this.document !== undefined && !this.isMoving && this.missing(states).length === 0)
    if (isThere()) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const listener = () => isThere() && resolve()
    this.#listeners.add(listener)
    try {
      await raced(promise, signal)
    } finally {
      this.#listeners.delete(listener)
    }
  }

  /** Takes states of the shown document for reached: nobody waits for them any more. */
  forgive(states: readonly WaitState[]): void {
    for (const state of states) this.#reached.add(state)
    this.#tell()
  }

  /** Makes `networkidle` something to be reached anew. */
  expectQuiet(): void {
    this.#reached.delete('networkidle')
    this.#restartClock()
  }

  /**
   * Counts what a dedicated worker of the page loads as the page's. The page's session says that the worker's script is asked for, and the worker's own
   * that it has come, except when it was ended before.
   * @param id target id of the worker, which its script's request has too
   * @returns to be called when the worker has ended
   */
  attendWorker(events: PageEvents, id: string): () => void {
    this.#workers.set(id, performance.now())
    const requests = new Set([id])
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

  /** Stops the clock of `networkidle`. */
  dispose(): void {
    clearTimeout(this.#clock)
    clearTimeout(this.#refresh)
    this.#listeners.clear()
  }

  #start(loader: string, url: string): void {
    this.#pending = { loader, url }
    clearTimeout(this.#refresh)
    this.#refresh = undefined
    if (++this.#documents > MAX_DOCUMENTS) this.#fail({ url, kind: 'circle' })
  }

  #expectRefresh(seconds: number): void {
    clearTimeout(this.#refresh)
    this.#refreshAt = performance.now() + seconds * 1_000
    this.#refresh = setTimeout(() => this.#endRefresh(), seconds * 1_000 + REFRESH_GRACE_MILLISECONDS)
  }

  #endRefresh(): void {
    clearTimeout(this.#refresh)
    this.#refresh = undefined
    this.#tell()
  }

  /** What becomes of a document that is not shown yet. */
  #lose({ loader, url }: { loader: string; url: string }, netError: string, isCanceled: boolean | undefined): void {
    if (isCanceled) {
      // A download or an answer without content. The document before stays.
      this.download = this.#responses.get(loader)
      this.#pending = undefined
    } else if (this.#responses.has(loader)) {
      // The browser shows what has come of it, or its error page.
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
    // Requests of the document before are cancelled without a word.
    for (const [request, of] of this.#inFlight) if (of.loader !== loader) this.#inFlight.delete(request)
    this.#streams.clear()
    this.#reached.clear()
    this.#reached.add('commit')
    if (this.#pending?.loader === loader) this.#pending = undefined
    this.#restartClock()
    this.#tell()
  }

  #stop(): void {
    // A navigation that ended before it asked for anything.
    if (this.#pending && this.#pending.loader !== this.document && !this.#inFlight.has(this.#pending.loader)) this.#pending = undefined
    // A document that was left for a download gets no load event: it has what it will ever have.
    if (this.document !== undefined && !this.#pending) this.#reached.add('domcontentloaded').add('load')
    this.#tell()
  }

  #reach(name: string): void {
    // Chromium's own networkIdle forgets requests that begin later; ours is counted.
    if (name !== 'networkidle') this.#reached.add(name)
    this.#tell()
  }

  #fail(failure: MainFailure): void {
    this.failure ??= failure
    this.#tell()
  }

  #request({ requestId, loaderId, frameId, type, request }: RequestEvent): void {
    this.requests += 1
    if (this.#pending?.loader === requestId && frameId === this.#mainFrame) this.#pending.url = request.url
    if (STREAMS.has(type ?? '')) {
      this.#streams.add(requestId)
      return
    }
    this.#inFlight.set(requestId, { loader: loaderId, isPainted: PAINTED.has(type ?? ''), since: performance.now() })
    this.#watchQuiet()
  }

  #finish(requestId: string): void {
    this.#streams.delete(requestId)
    if (this.#inFlight.delete(requestId)) this.#watchQuiet()
  }

  #restartClock(): void {
    clearTimeout(this.#clock)
    this.#clock = undefined
    this.#watchQuiet()
  }

  /** The clock runs while no more requests are under way than may be. */
  #watchQuiet(): void {
    const isQuiet = this.#inFlight.size <= this.quiet.maxRequests && !this.#reached.has('networkidle')
    if (isQuiet && this.#clock !== undefined) return
    clearTimeout(this.#clock)
    this.#clock = isQuiet ? setTimeout(() => this.#rest(), this.quiet.milliseconds) : undefined
  }

  #rest(): void {
    this.#clock = undefined
    this.#reached.add('networkidle')
    this.#tell()
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
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
  request: { url: string }
}
