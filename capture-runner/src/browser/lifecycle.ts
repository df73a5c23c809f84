import type { WaitState } from '@tintype/crds/options/page/loading'
import { abortable } from '../runtime/race.ts'
import type { PageEvents } from './devtools.ts'
import { Traffic } from './traffic.ts'

// Tracks the main frame by DevTools events. Playwright's own waiting follows one navigation. A capture must follow all navigations by scripts and
// refreshes, and must never take a screenshot in between or of the browser's own error page.

/** Default condition for `networkidle`. */
const QUIET = { milliseconds: 500, maxRequests: 0 }
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
export class Lifecycle extends Traffic {
  /** Loader id of the current document; undefined before the first one. */
  document: string | undefined
  failure: MainFailure | undefined
  response: MainResponse | undefined
  /** The response of the last document that the browser downloaded instead of showing it. */
  download: MainResponse | undefined
  /** Chromium's error code if the response of the current document broke off. */
  brokenOff: string | undefined
  /** Condition for `networkidle`: this many milliseconds with at most this many pending requests. Set it before the page opens. */
  quiet: { milliseconds: number; maxRequests: number } = QUIET
  readonly #responses = new Map<string, MainResponse>()
  /** Error codes of documents whose response broke off after its headers, by loader id. */
  readonly #broken = new Map<string, string>()
  readonly #reached = new Set<string>()
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
    super(events)
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
    events.on('Network.requestWillBeSent', ({ requestId, frameId, request }) => {
      if (this.#pending?.loader === requestId && frameId === mainFrame) this.#pending.url = request.url
    })
    events.on('Network.responseReceived', ({ requestId, frameId, response }) => {
      if (frameId === mainFrame && requestId === this.#pending?.loader) this.#responses.set(requestId, toMainResponse(response))
    })
    events.on('Network.loadingFailed', ({ requestId, errorText, canceled }) => {
      if (requestId === this.#pending?.loader) this.#handleLoadFailure(this.#pending, errorText, canceled)
      else if (requestId === this.document && !canceled) this.brokenOff = errorText
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
    this.forgetOthers(loader)
    this.#reached.clear()
    this.#reached.add('commit')
    if (this.#pending?.loader === loader) this.#pending = undefined
    this.#restartClock()
    this.#notify()
  }

  #stop(): void {
    // A navigation that ended before its first request.
    if (this.#pending && this.#pending.loader !== this.document && !this.isPending(this.#pending.loader)) this.#pending = undefined
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

  #restartClock(): void {
    clearTimeout(this.#clock)
    this.#clock = undefined
    this.onRequests()
  }

  /** The timer runs while the number of pending requests is within the limit. */
  protected override onRequests(): void {
    const isQuiet = this.pendingRequests <= this.quiet.maxRequests && !this.#reached.has('networkidle')
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
