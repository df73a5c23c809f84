import type { Logger } from 'pino'
import { type ContextPlan, DEFAULT_CONTEXT, isAdaptable } from '../plan/plan.ts'
import { CaptureError } from '../runtime/errors.ts'
import { keptBytesOf } from '../runtime/processes.ts'
import { bounded, pause, raced } from '../runtime/race.ts'
import { openDefaultTab, type RunningBrowser } from './browser.ts'
import { adaptTab, type Tab } from './tab.ts'

// Two browsers: the current one, of one account, and a standby that no account has used, each with a tab made ahead. The same account gets the
// current browser's next tab. For another account the standby becomes the current one, the old one is killed with all its processes, as soon as it
// has drawn what it is drawing, and a new standby starts while the capture runs. No two accounts ever share a browser process.

/** How browsers are used up. */
export interface BrowsersOptions {
  launch: () => Promise<RunningBrowser>
  /** `browser`: every capture gets a browser of its own. */
  isolation: 'context' | 'browser'
  log: Logger
  /** Captures after which a browser is replaced, where a measurement wants another number. */
  maxCaptures?: number
  /** Bytes that a browser may keep between captures before it is replaced, where a test wants another number. */
  maxKeptBytes?: number
}

/** A browser with its next tab. */
interface Warm {
  browser: RunningBrowser
  account?: string
  captures: number
  /** Tabs that are out. One capture's may still be drawn, or be closing, when the next one's is lent. */
  lent: number
  /** Of these the ones that have not been taken back. */
  inUse: number
  startedAt: number
  /** It did not let a page close, or has kept too much memory: what it does still is its last. */
  isWornOut: boolean
  next: Promise<Tab> | undefined
}

/** Captures, and milliseconds, after which a browser is replaced. Over 300 captures none grew: this is for pages that are worse than any measured. */
const MAX_CAPTURES = 100
const MAX_AGE_MILLISECONDS = 30 * 60_000
/** Bytes that a browser's lasting processes may keep: 100 MiB are usual. */
const MAX_KEPT_BYTES = 400 * 1024 * 1024
/** Captures between two looks at it: a look reads files of every process in the pod. */
const KEPT_EVERY = 5
/** Milliseconds that a context may take to close before its browser is replaced. */
const CLOSE_MILLISECONDS = 2_000
/** Milliseconds to make a tab in a browser that works. */
const TAB_MILLISECONDS = 10_000
/** Milliseconds in which a browser must draw a tiny picture after a capture that failed: 50 are usual. */
const PROOF_MILLISECONDS = 10_000
/** Milliseconds between two tries to start a browser. */
const RELAUNCH_MILLISECONDS = 1_000

/** A tab lent to one capture. */
export interface Lease {
  tab: Tab
  browser: RunningBrowser
}

/** The browsers of a runner. One page loads at a time; that of the capture before it may still be drawn. */
export class Browsers {
  readonly #options: BrowsersOptions
  readonly #stop = new AbortController()
  /** What captures use, as soon as it is up. */
  #current: Promise<Warm> | undefined
  /** The same once it is up. */
  #up: Warm | undefined
  #standby: Promise<Warm> | undefined
  /** Others that still draw for a capture, after which they end. */
  readonly #leaving = new Set<Warm>()
  /** The end of a tab whose page may be hung: nothing else is lent before it. */
  #suspect: Promise<void> | undefined

  constructor(options: BrowsersOptions) {
    this.#options = options
  }

  /** Starts both browsers; resolves when the first can take a capture. */
  async start(): Promise<void> {
    this.#promote()
    const warm = await this.#current
    await warm?.next
  }

  /** True while the current browser is up. */
  get isUp(): boolean {
    return this.#up?.browser.isConnected() ?? false
  }

  /** Lends a tab of a browser that no other account has used. @throws the signal's reason; CaptureError INTERNAL_ERROR */
  async lend(account: string, plan: ContextPlan, signal: AbortSignal): Promise<Lease> {
    await this.#suspect
    const warm = await this.#browserFor(account, signal)
    warm.account = account
    warm.captures += 1
    warm.lent += 1
    warm.inUse += 1
    try {
      return { tab: await this.#tabOf(warm, plan, signal), browser: warm.browser }
    } catch (error) {
      warm.lent -= 1
      warm.inUse -= 1
      signal.throwIfAborted()
      this.#retire(warm)
      throw new CaptureError('INTERNAL_ERROR', 'the browser could not open a page', { cause: error })
    }
  }

  /**
   * Closes the tab and prepares the next one. A browser that does not let it close is replaced.
   * @param isSound the page answered to the end: the next tab may be made while this one closes
   */
  async takeBack(lease: Lease, isSound: boolean): Promise<void> {
    const old = this.#leaving.values().find(({ browser }) => browser === lease.browser)
    const warm = this.#up?.browser === lease.browser ? this.#up : undefined
    const held = warm ?? old
    if (held) held.inUse -= 1
    if (old?.inUse === 0) this.#retire(old)
    if (warm && isSound && !this.#isUsedUp(warm)) this.#prepareNext(warm)
    const ending = this.#end(lease, warm, isSound)
    if (!isSound) this.#suspect = ending
    await ending
  }

  /**
   * Takes a tiny picture in the browser that waits for its turn, which no capture can occupy. If it gives none it is ended, and another one
   * started in its place. @throws when there is no picture
   */
  async prove(signal: AbortSignal): Promise<void> {
    const standby = this.#standby
    if (!standby) throw new Error('the browsers are not started')
    const warm = await raced(standby, signal)
    try {
      // Absent: it has just been given to a capture.
      if (warm.next) await raced(warm.next.then(takeTiny), signal)
    } catch (error) {
      if (this.#standby === standby) warm.browser.kill()
      throw error
    }
  }

  /** Ends every browser. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the runner stops'))
    for (const warm of this.#leaving) this.#retire(warm)
    const browsers = await Promise.all([this.#current, this.#standby].map((warm) => warm?.catch(() => undefined)))
    for (const warm of browsers) if (warm) endBrowser(warm)
  }

  async #end({ tab, browser }: Lease, warm: Warm | undefined, isSound: boolean): Promise<void> {
    tab.lifecycle.dispose()
    const isClosed = await this.#close(tab)
    // After the context: a jail's listener is used again, and nothing of this capture may still be knocking at it.
    tab.exit.close()
    if (!warm) return
    warm.lent -= 1
    const isLookedAt = !isSound || warm.captures % KEPT_EVERY === 0
    warm.isWornOut ||= !isClosed || (isLookedAt && this.#keepsTooMuch(browser))
    if (!browser.isConnected()) this.#retire(warm)
    else if (this.#isUsedUp(warm)) {
      // The next capture may have a tab of it already, and keeps it.
      if (warm.lent === 0) this.#retire(warm)
    } else {
      this.#prepareNext(warm)
      if (!isSound && !(await this.#isWell(warm))) this.#retire(warm)
    }
  }

  /** The current browser if it may serve the account, else the standby in its place. */
  async #browserFor(account: string, signal: AbortSignal): Promise<Warm> {
    for (;;) {
      this.#stop.signal.throwIfAborted()
      if (!this.#current) throw new Error('the browsers are not started')
      const warm = await raced(this.#current, signal)
      const isOurs = warm.account === undefined || warm.account === account
      if (isOurs && warm.browser.isConnected() && !this.#isUsedUp(warm)) return warm
      this.#replace(warm)
    }
  }

  /** Gives the standby a browser's place, and ends it when it has drawn what it is drawing. */
  #replace(warm: Warm): void {
    const isDrawing = warm.inUse > 0 && warm.browser.isConnected()
    if (isDrawing) this.#leaving.add(warm)
    if (isDrawing) this.#promote()
    else this.#retire(warm)
  }

  /** Ends a browser; the standby takes its place. May be called again. */
  #retire(warm: Warm): void {
    this.#leaving.delete(warm)
    endBrowser(warm)
    if (this.#up === warm && !this.#stop.signal.aborted) this.#promote()
  }

  /** Makes the standby the current browser and starts a new standby. */
  #promote(): void {
    const current = this.#standby ?? this.#launch()
    this.#up = undefined
    this.#current = current
    current.then(
      (warm) => {
        if (this.#current !== current) return
        this.#up = warm
        if (!warm.browser.isConnected()) this.#retire(warm)
      },
      () => {},
    )
    this.#refill(current.then(({ next }) => next?.catch(() => {})))
  }

  /** Tries until a browser is up. @throws when the runner stops */
  async #launch(): Promise<Warm> {
    for (;;) {
      this.#stop.signal.throwIfAborted()
      try {
        const browser = await this.#options.launch()
        const warm: Warm = { browser, captures: 0, lent: 0, inUse: 0, startedAt: performance.now(), isWornOut: false, next: undefined }
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

  /** A browser that ends while nothing uses it is replaced before anything does. */
  #notice(warm: Warm): void {
    // A capture that has it ends by itself, and has it replaced.
    if (this.#stop.signal.aborted || warm.lent > 0) return
    if (warm === this.#up) {
      this.#options.log.warn({ captures: warm.captures }, 'idle browser ended')
      this.#retire(warm)
      return
    }
    const standby = this.#standby
    standby?.then(
      (other) => {
        if (other !== warm || this.#standby !== standby) return
        endBrowser(warm)
        this.#refill(Promise.resolve())
      },
      () => {},
    )
  }

  /** Starts a standby after something else: two that start at once on a small node keep each other from being ready. */
  #refill(after: Promise<unknown>): void {
    this.#standby = after.then(() => this.#launch())
    this.#standby.catch(() => {})
  }

  #prepareNext(warm: Warm): void {
    if (warm.next !== undefined) return
    const next = openDefaultTab(warm.browser)
    warm.next = next
    next.then(
      ({ ended }) => ended.addEventListener('abort', () => forget(warm, next), { once: true }),
      // Heard of when it is wanted.
      () => {},
    )
  }

  async #tabOf(warm: Warm, plan: ContextPlan, signal: AbortSignal): Promise<Tab> {
    using time = bounded(signal, TAB_MILLISECONDS, () => new Error('the browser did not open a page in time'))
    const next = isAdaptable(plan) ? (warm.next ?? openDefaultTab(warm.browser)) : warm.browser.openTab(plan)
    if (next === warm.next) warm.next = undefined
    try {
      const tab = await raced(next, time.signal)
      if (isAdaptable(plan)) await raced(adaptTab(tab, DEFAULT_CONTEXT, plan), time.signal)
      return tab
    } catch (error) {
      discard(next)
      throw error
    }
  }

  /** False when the context did not close: its browser is not to be trusted any more. */
  async #close(tab: Tab): Promise<boolean> {
    using time = bounded(this.#stop.signal, CLOSE_MILLISECONDS, () => new Error('the context did not close in time'))
    // Awaited here: the clock stops when this function returns.
    return await raced(tab.close(), time.signal).then(
      () => true,
      () => false,
    )
  }

  /** Whether a browser still draws after a capture that failed: one whose GPU process hangs would fail all that follow. */
  async #isWell({ next }: Warm): Promise<boolean> {
    using time = bounded(this.#stop.signal, PROOF_MILLISECONDS, () => new Error('the browser drew nothing in time'))
    // Awaited here: the clock stops when this function returns.
    return await raced(next?.then(takeTiny) ?? Promise.resolve(), time.signal).then(
      () => true,
      () => false,
    )
  }

  #keepsTooMuch({ pid }: RunningBrowser): boolean {
    return keptBytesOf(pid) > (this.#options.maxKeptBytes ?? MAX_KEPT_BYTES)
  }

  #isUsedUp({ captures, startedAt, isWornOut }: Warm): boolean {
    if (isWornOut) return true
    if (this.#options.isolation === 'browser') return captures > 0
    return captures >= (this.#options.maxCaptures ?? MAX_CAPTURES) || performance.now() - startedAt > MAX_AGE_MILLISECONDS
  }
}

async function takeTiny({ session, ended }: Tab): Promise<void> {
  const clip = { x: 0, y: 0, width: 8, height: 8, scale: 1 }
  // A browser that is being killed never answers.
  const { data } = await raced(session.send('Page.captureScreenshot', { format: 'png', clip }), ended)
  if (data === '') throw new Error('the picture is empty')
}

/** Kills it and closes the way out of the tab that no one will use. */
function endBrowser({ browser, next }: Warm): void {
  browser.kill()
  if (next) discard(next)
}

/** A tab that has crashed while it waited is lent to no one. */
function forget(warm: Warm, next: Promise<Tab>): void {
  if (warm.next !== next) return
  warm.next = undefined
  discard(next)
}

/** Closes a tab that no one will use, as soon as it is made. */
function discard(next: Promise<Tab>): void {
  next.then(
    ({ exit, close }) => {
      exit.close()
      close().catch(() => {})
    },
    () => {},
  )
}
