import { retry } from '@tintype/crds/runtime/retry'
import type { Logger } from 'pino'
import { type ContextPlan, DEFAULT_CONTEXT } from '../plan/plan.ts'
import { CaptureError, toCaptureError } from '../runtime/errors.ts'
import { retainedBytesOf } from '../runtime/processes.ts'
import { abortable, bounded, pause } from '../runtime/race.ts'
import type { RunningBrowser } from './browser.ts'
import { PreparedBrowser } from './prepared-browser.ts'
import type { Tab } from './tab.ts'

// Keeps two browsers: the current one of one account, and a standby that no account has used. Each has a tab opened ahead. Captures of the same
// account use the current browser. For another account, the standby becomes current, and a new standby starts while the capture runs. The old
// browser is killed with all its processes once it has finished its screenshot. Two accounts never share a browser process.

/** How browsers are launched and replaced. */
export interface BrowsersOptions {
  launch: () => Promise<RunningBrowser>
  /** `browser`: every capture gets its own browser. */
  isolation: 'context' | 'browser'
  log: Logger
  /** The runner begins the frames of the tabs that it prepares. Their browsers need the flags of recordings. */
  hasFrameControl?: boolean
  /** Captures after which a browser is replaced; only measurements set another number. */
  maxCaptures?: number
  /** Memory that a browser may retain between captures; only tests set another number. */
  maxRetainedBytes?: number
}

/** Limits after which a browser is replaced. In 300 captures no browser grew; this is for pages worse than any measured one. */
const MAX_CAPTURES = 100
const MAX_AGE_MILLISECONDS = 30 * 60_000
/** Memory that a browser's long-lived processes may retain. Usually 100 MiB. */
const MAX_RETAINED_BYTES = 400 * 1024 * 1024
/** Captures between two memory checks, because a check reads files of every process in the pod. */
const MEMORY_CHECK_EVERY = 5
/** Time limit for closing a context, after which its browser is replaced. */
const CLOSE_MILLISECONDS = 2_000
/** Time limit for a small screenshot after a failed capture. Usually 50 ms. */
const CHECK_MILLISECONDS = 10_000
/** Milliseconds between two attempts to start a browser. */
const RELAUNCH_MILLISECONDS = 1_000

/** A tab lent to one capture. */
export interface Lease {
  tab: Tab
  browser: RunningBrowser
}

/** The browsers of a runner. Only one page loads at a time, while the screenshot of the previous capture may still be in progress. */
export class Browsers {
  readonly #options: BrowsersOptions
  /** Of the tabs that are opened ahead. */
  #prepared: ContextPlan
  readonly #trust = new FrameTrust()
  readonly #stop = new AbortController()
  /** The browser for captures, once it is ready. */
  #current: Promise<PreparedBrowser> | undefined
  /** The same when it is ready. */
  #up: PreparedBrowser | undefined
  #standby: Promise<PreparedBrowser> | undefined
  /** Replaced browsers that still take a screenshot and end afterwards. */
  readonly #leaving = new Set<PreparedBrowser>()
  /** Closing of a tab whose page may hang. No other tab is lent before it is done. */
  #suspect: Promise<void> | undefined

  constructor(options: BrowsersOptions) {
    this.#options = options
    this.#prepared = options.hasFrameControl ? { ...DEFAULT_CONTEXT, frameControl: 'picture' } : DEFAULT_CONTEXT
  }

  /** Starts both browsers. Resolves when the first is ready for a capture. A browser that draws no frame on command gets tabs that draw by themselves. */
  async start(): Promise<void> {
    this.#promote()
    const prepared = await this.#current
    if (!prepared || !this.#hasFrameControl) await prepared?.next
    else if (!(await this.#canDraw(prepared))) await this.#giveUpFrames(prepared)
  }

  /** Replaces both browsers by some whose tabs draw by themselves. */
  async #giveUpFrames(current: PreparedBrowser): Promise<void> {
    this.#options.log.error('the browser draws no frame on command, so its tabs draw by themselves')
    this.#prepared = DEFAULT_CONTEXT
    const standby = await this.#standby?.catch(() => undefined)
    for (const prepared of [current, standby]) if (prepared) this.#retire(prepared)
  }

  /** Whether the runner begins the frames of an account's usual captures. */
  beginsFrames(account: string): boolean {
    return this.#hasFrameControl && this.#trust.isTrusted(account)
  }

  get #hasFrameControl(): boolean {
    return this.#prepared.frameControl !== undefined
  }

  /** True while the current browser is running. */
  get isUp(): boolean {
    return this.#up?.browser.isConnected() ?? false
  }

  /** Lends a tab of a browser that no other account has used. @throws the signal's reason; CaptureError INTERNAL_ERROR, or INVALID_OPTIONS */
  async lend(account: string, plan: ContextPlan, signal: AbortSignal): Promise<Lease> {
    await this.#suspect
    const prepared = await this.#browserFor(account, signal)
    prepared.account = account
    this.#trust.noteCapture()
    prepared.captures += 1
    prepared.lent += 1
    prepared.inUse += 1
    try {
      return { tab: await prepared.openTab(plan, signal), browser: prepared.browser }
    } catch (error) {
      prepared.lent -= 1
      prepared.inUse -= 1
      signal.throwIfAborted()
      const failure = toCaptureError(error)
      if (failure.code === 'INVALID_OPTIONS') throw failure
      this.#retire(prepared)
      throw new CaptureError('INTERNAL_ERROR', 'the browser could not open a page', { cause: error })
    }
  }

  /**
   * Closes the tab and prepares the next one. Replaces a browser that fails to close the tab.
   * @param isSound true if the page responded to the end; then the next tab may open while this one closes
   */
  async takeBack(lease: Lease, isSound: boolean): Promise<void> {
    const old = this.#leaving.values().find(({ browser }) => browser === lease.browser)
    const prepared = this.#up?.browser === lease.browser ? this.#up : undefined
    const held = prepared ?? old
    if (held) held.inUse -= 1
    if (held?.account !== undefined && lease.tab.frames?.isHung && !held.isWornOut) {
      held.isWornOut = true
      lease.browser.kill()
      if (this.#trust.noteHang(held.account))
        this.#options.log.error({ account: held.account }, 'frames of this account hang, so its next tabs draw by themselves')
    }
    if (old?.inUse === 0) this.#retire(old)
    if (prepared && isSound && !this.#isUsedUp(prepared)) prepared.prepareNext()
    const ending = this.#end(lease, prepared, isSound)
    if (!isSound) this.#suspect = ending
    await ending
  }

  /**
   * Takes a small screenshot in the standby browser, which no capture can occupy. Replaces the standby if that fails.
   * @throws when the screenshot fails
   */
  async checkStandby(signal: AbortSignal): Promise<void> {
    const standby = this.#standby
    if (!standby) throw new Error('the browsers are not started')
    const prepared = await abortable(standby, signal)
    try {
      await abortable(prepared.takeTestScreenshot(), signal)
    } catch (error) {
      if (this.#standby === standby) prepared.browser.kill()
      throw error
    }
  }

  /** Ends every browser. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the runner stops'))
    for (const prepared of this.#leaving) this.#retire(prepared)
    const browsers = await Promise.all([this.#current, this.#standby].map((prepared) => prepared?.catch(() => undefined)))
    for (const prepared of browsers) if (prepared) prepared.end()
  }

  async #end({ tab, browser }: Lease, prepared: PreparedBrowser | undefined, isSound: boolean): Promise<void> {
    tab.lifecycle.dispose()
    const isClosed = await this.#close(tab)
    // Only after the context has closed, because a jail's listener is reused and must not receive connections of this capture.
    tab.egress.close()
    if (!prepared) return
    prepared.lent -= 1
    const isMemoryChecked = !isSound || prepared.captures % MEMORY_CHECK_EVERY === 0
    prepared.isWornOut ||= !isClosed || (isMemoryChecked && this.#retainsTooMuch(browser))
    if (!browser.isConnected()) this.#retire(prepared)
    else if (this.#isUsedUp(prepared)) {
      // The next capture may already use one of its tabs and keeps it.
      if (prepared.lent === 0) this.#retire(prepared)
    } else {
      prepared.prepareNext()
      if (!isSound && !(await this.#canDraw(prepared))) this.#retire(prepared)
    }
  }

  /** The current browser if it may serve the account, else the standby. */
  async #browserFor(account: string, signal: AbortSignal): Promise<PreparedBrowser> {
    for (;;) {
      this.#stop.signal.throwIfAborted()
      if (!this.#current) throw new Error('the browsers are not started')
      const prepared = await abortable(this.#current, signal)
      const isOurs = prepared.account === undefined || prepared.account === account
      if (isOurs && prepared.browser.isConnected() && !this.#isUsedUp(prepared)) return prepared
      this.#replace(prepared)
    }
  }

  /** Promotes the standby, and ends the old browser after its screenshot. */
  #replace(prepared: PreparedBrowser): void {
    const isDrawing = prepared.inUse > 0 && prepared.browser.isConnected()
    if (isDrawing) this.#leaving.add(prepared)
    if (isDrawing) this.#promote()
    else this.#retire(prepared)
  }

  /** Ends a browser and promotes the standby if needed. May be called again. */
  #retire(prepared: PreparedBrowser): void {
    this.#leaving.delete(prepared)
    prepared.end()
    if (this.#up === prepared && !this.#stop.signal.aborted) this.#promote()
  }

  /** Makes the standby the current browser and starts a new standby. */
  #promote(): void {
    const current = this.#standby ?? this.#launch()
    this.#up = undefined
    this.#current = current
    current.then(
      (prepared) => {
        if (this.#current !== current) return
        this.#up = prepared
        if (!prepared.browser.isConnected()) this.#retire(prepared)
      },
      () => {},
    )
    this.#refill(current.then(({ next }) => next?.catch(() => {})))
  }

  /** Retries until a browser is running. @throws when the runner stops */
  async #launch(): Promise<PreparedBrowser> {
    const launch = async (): Promise<PreparedBrowser> => {
      this.#stop.signal.throwIfAborted()
      const browser = await this.#options.launch()
      const prepared = new PreparedBrowser(browser, this.#prepared)
      prepared.prepareNext()
      browser.onDisconnected(() => this.#handleDisconnected(prepared))
      return prepared
    }
    const delayOf = (error: unknown): number => {
      this.#stop.signal.throwIfAborted()
      this.#options.log.error({ err: error }, 'browser did not start')
      return RELAUNCH_MILLISECONDS
    }
    return retry(launch, { delayOf, wait: (milliseconds) => pause(milliseconds, this.#stop.signal) })
  }

  /** Replaces an idle browser that has ended before a capture needs it. */
  #handleDisconnected(prepared: PreparedBrowser): void {
    // A capture that uses it fails by itself and then replaces it.
    if (this.#stop.signal.aborted || prepared.lent > 0) return
    if (prepared === this.#up) {
      this.#options.log.warn({ captures: prepared.captures }, 'idle browser ended')
      this.#retire(prepared)
      return
    }
    const standby = this.#standby
    standby?.then(
      (other) => {
        if (other !== prepared || this.#standby !== standby) return
        prepared.end()
        this.#refill(Promise.resolve())
      },
      () => {},
    )
  }

  /** Starts a standby after something else, because two concurrent launches on a small node delay each other. */
  #refill(after: Promise<unknown>): void {
    this.#standby = after.then(() => this.#launch())
    this.#standby.catch(() => {})
  }

  /** Returns false if the context did not close. Its browser is then replaced. */
  async #close(tab: Tab): Promise<boolean> {
    using time = bounded(this.#stop.signal, CLOSE_MILLISECONDS, () => new Error('the context did not close in time'))
    // Await here, because the timeout ends when this function returns.
    return await abortable(tab.close(), time.signal).then(
      () => true,
      () => false,
    )
  }

  /** Whether a browser still draws after a failed capture. A hung GPU process would fail all later captures. */
  async #canDraw(prepared: PreparedBrowser): Promise<boolean> {
    using time = bounded(this.#stop.signal, CHECK_MILLISECONDS, () => new Error('the browser drew nothing in time'))
    // Await here, because the timeout ends when this function returns.
    return await abortable(prepared.takeTestScreenshot(), time.signal).then(
      () => true,
      () => false,
    )
  }

  #retainsTooMuch({ pid }: RunningBrowser): boolean {
    return retainedBytesOf(pid) > (this.#options.maxRetainedBytes ?? MAX_RETAINED_BYTES)
  }

  #isUsedUp({ captures, startedAt, isWornOut }: PreparedBrowser): boolean {
    if (isWornOut) return true
    if (this.#options.isolation === 'browser') return captures > 0
    return captures >= (this.#options.maxCaptures ?? MAX_CAPTURES) || performance.now() - startedAt > MAX_AGE_MILLISECONDS
  }
}

/** Captures of a runner in which this many hung frames of an account end its trust. */
const CAPTURES = 100
const HANGS = 3

/**
 * Decides for which accounts the runner begins the frames of its tabs. An account whose pages hang frames again and again gets tabs that draw by
 * themselves, because each hang loads its page a second time. Counted for each account, so that nobody can change the pictures of others.
 */
export class FrameTrust {
  #captures = 0
  /** Numbers of the captures whose frames hung. */
  readonly #hangs = new Map<string, number[]>()

  /** Notes that a capture begins. */
  noteCapture(): void {
    this.#captures += 1
  }

  /** Notes that a frame of an account hung. @returns true if the account is no longer trusted because of it */
  noteHang(account: string): boolean {
    const hangs = [...this.#recent(account), this.#captures]
    this.#hangs.set(account, hangs)
    return hangs.length === HANGS
  }

  isTrusted(account: string): boolean {
    return this.#recent(account).length < HANGS
  }

  #recent(account: string): number[] {
    return (this.#hangs.get(account) ?? []).filter((capture) => capture > this.#captures - CAPTURES)
  }
}
