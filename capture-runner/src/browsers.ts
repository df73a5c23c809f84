import type { Logger } from 'pino'
import { openDefaultTab, type RunningBrowser } from './browser.ts'
import { CaptureError } from './errors.ts'
import { type ContextPlan, DEFAULT_CONTEXT, isAdaptable } from './plan.ts'
import { bounded, pause, raced } from './race.ts'
import { adaptTab, type Tab } from './tab.ts'

// Two browsers: the current one, of one account, and a spare that no account has used, each with a tab made ahead. The same account gets the
// current browser's next tab. For another account the spare becomes the current one, the old one is killed with all its processes, and a new
// spare starts while the capture runs. No two accounts ever share a browser process.

/** How browsers are used up. */
export interface BrowsersOptions {
  launch: () => Promise<RunningBrowser>
  /** `browser`: every capture gets a browser of its own. */
  isolation: 'context' | 'browser'
  log: Logger
}

/** A browser with its next tab. */
interface Warm {
  browser: RunningBrowser
  account?: string
  captures: number
  startedAt: number
  next: Promise<Tab> | undefined
}

/** Captures, and milliseconds, after which a browser is replaced: memory grows even when every context is closed. */
const MAX_CAPTURES = 50
const MAX_AGE_MILLISECONDS = 30 * 60_000
/** Milliseconds that a context may take to close before its browser is killed. */
const CLOSE_MILLISECONDS = 2_000
/** Milliseconds to make a tab in a browser that works. */
const TAB_MILLISECONDS = 10_000
/** Milliseconds between two tries to start a browser. */
const RELAUNCH_MILLISECONDS = 1_000

/** A tab lent to one capture. */
export interface Lease {
  tab: Tab
  browser: RunningBrowser
}

/** The browsers of a runner. One capture at a time: a lease is returned before the next is taken. */
export class Browsers {
  readonly #options: BrowsersOptions
  readonly #stop = new AbortController()
  #current: Warm | undefined
  /** A tab of a page that may be hung: nothing else is opened before it is closed. */
  #suspect: Promise<void> | undefined
  #spare: Promise<Warm> | undefined

  constructor(options: BrowsersOptions) {
    this.#options = options
  }

  /** Starts both browsers; resolves when the first can take a capture. */
  async start(): Promise<void> {
    this.#current = await this.#launch()
    await this.#current.next
    this.#refill()
  }

  /** True while the current browser is up with a tab ready or in use. */
  get isUp(): boolean {
    return this.#current?.browser.isConnected() ?? false
  }

  /** Process ids of the browsers that run. */
  get pids(): number[] {
    return this.#current && this.isUp ? [this.#current.browser.pid] : []
  }

  /** Lends a tab of a browser that no other account has used. @throws the signal's reason; CaptureError INTERNAL_ERROR */
  async lend(account: string, plan: ContextPlan, signal: AbortSignal): Promise<Lease> {
    await this.#suspect
    const warm = await raced(this.#browserFor(account), signal)
    warm.account = account
    warm.captures += 1
    try {
      return { tab: await raced(this.#tabOf(warm, plan), signal), browser: warm.browser }
    } catch (error) {
      signal.throwIfAborted()
      throw new CaptureError('INTERNAL_ERROR', 'the browser could not open a page', { cause: error })
    }
  }

  /**
   * Closes the tab, or kills a browser that does not let it close, and prepares the next one.
   * @param isSound the page answered to the end: the next tab may be made while this one closes
   */
  async takeBack(lease: Lease, isSound: boolean): Promise<void> {
    const current = this.#current
    if (isSound && current?.browser === lease.browser && !this.#isUsedUp(current)) this.#prepareNext(current)
    const ending = this.#end(lease)
    if (!isSound) this.#suspect = ending
    await ending
  }

  async #end({ tab, browser }: Lease): Promise<void> {
    tab.lifecycle.dispose()
    const isClosed = await this.#close(tab)
    // After the context: a jail's entrance is used again, and nothing of this capture may still be knocking at it.
    tab.exit.close()
    const current = this.#current
    if (current?.browser !== browser || this.#stop.signal.aborted) return
    if (!isClosed || !browser.isConnected() || this.#isUsedUp(current)) await this.#replace(current).catch(() => {})
    else this.#prepareNext(current)
  }

  /** Ends every browser. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the runner stops'))
    this.#current?.browser.kill()
    const spare = await this.#spare?.catch(() => undefined)
    spare?.browser.kill()
  }

  async #browserFor(account: string): Promise<Warm> {
    const current = this.#current
    if (!current) throw new Error('the browsers are not started')
    const isOurs = current.account === undefined || (current.account === account && this.#options.isolation === 'context')
    if (current.browser.isConnected() && isOurs) return current
    return this.#replace(current)
  }

  /** Makes the spare the current browser, ends the old one and starts a new spare. */
  async #replace(old: Warm): Promise<Warm> {
    old.browser.kill()
    void old.next?.then((tab) => tab.exit.close()).catch(() => {})
    for (;;) {
      this.#stop.signal.throwIfAborted()
      this.#spare ??= this.#launch()
      const spare = await this.#spare
      this.#refill()
      if (!spare.browser.isConnected()) continue
      this.#current = spare
      return spare
    }
  }

  #refill(): void {
    this.#spare = this.#launch()
    this.#spare.catch(() => {})
  }

  /** Tries until a browser is up or the runner stops. */
  async #launch(): Promise<Warm> {
    for (;;) {
      this.#stop.signal.throwIfAborted()
      try {
        const browser = await this.#options.launch()
        if (this.#stop.signal.aborted) browser.kill()
        const warm: Warm = { browser, captures: 0, startedAt: performance.now(), next: undefined }
        this.#prepareNext(warm)
        browser.onGone(() => this.#notice(warm))
        return warm
      } catch (error) {
        this.#stop.signal.throwIfAborted()
        this.#options.log.error({ err: error }, 'browser did not start')
        await pause(RELAUNCH_MILLISECONDS, this.#stop.signal)
      }
    }
  }

  /** A browser that ended while nothing used it is replaced before anything does. */
  #notice(warm: Warm): void {
    if (this.#stop.signal.aborted || warm !== this.#current || warm.next === undefined) return
    this.#options.log.warn({ captures: warm.captures }, 'idle browser ended')
    void this.#replace(warm).catch(() => {})
  }

  #prepareNext(warm: Warm): void {
    if (warm.next !== undefined) return
    warm.next = openDefaultTab(warm.browser)
    // Heard of when it is wanted.
    warm.next.catch(() => {})
  }

  async #tabOf(warm: Warm, plan: ContextPlan): Promise<Tab> {
    using time = bounded(this.#stop.signal, TAB_MILLISECONDS, () => new Error('the browser did not open a page in time'))
    if (!isAdaptable(plan)) return raced(warm.browser.openTab(plan), time.signal)
    const next = warm.next ?? openDefaultTab(warm.browser)
    warm.next = undefined
    const tab = await raced(next, time.signal)
    await raced(adaptTab(tab, DEFAULT_CONTEXT, plan), time.signal)
    return tab
  }

  /** False when the context did not close: its browser is not to be trusted any more. */
  async #close(tab: Tab): Promise<boolean> {
    using time = bounded(this.#stop.signal, CLOSE_MILLISECONDS, () => new Error('the context did not close in time'))
    return raced(tab.context.close(), time.signal).then(
      () => true,
      () => false,
    )
  }

  #isUsedUp({ captures, startedAt }: Warm): boolean {
    return this.#options.isolation === 'browser' || captures >= MAX_CAPTURES || performance.now() - startedAt > MAX_AGE_MILLISECONDS
  }
}
