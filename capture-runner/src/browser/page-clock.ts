import { pause, raced } from '../runtime/race.ts'
import type { Tab } from './tab.ts'

// The page's own clock (ADR 34): timers, dates and performance.now of a normal tab, run ahead of real time. Frames, CSS animations and the network stay
// on real time. Once it has been advanced the clock stands still between advances: there is no way back to real time.
//
// The compositor reads the same clock to schedule frames, whose times are real. While the page's clock is behind real time, each frame comes late by
// the difference: a picture of a page whose clock has stood still for ten seconds takes ten seconds. So the clock is kept ahead.

/** Milliseconds between two looks at why the clock does not get on. */
const CHECK_MILLISECONDS = 50
/** Milliseconds of real time between two advances of a clock that keeps up with it. */
const TICK_MILLISECONDS = 20
/** Milliseconds by which the clock is ahead while the browser draws. */
const LEAD_MILLISECONDS = 100
/** Milliseconds of real time in which a page that is busy gets on with its clock. */
const BUSY_MILLISECONDS = 2_000
/** Tasks that may run at one moment of page time: without a limit, an endless chain of messages would stop the clock. */
const STARVATION = 1_000

/** Whether the page waits for an answer that is worth waiting for. */
export type HasPendingRequests = () => boolean
const NOT_ASKING: HasPendingRequests = () => false

/** Advances the clock of one page. */
export class PageClock {
  readonly #tab: Pick<Tab, 'session' | 'lifecycle' | 'foreignFrames'>
  #onExpired = () => {}
  /** When real time gets to where the page's clock is, on the runner's clock. */
  #reached: number | undefined
  /** Keeps the clock going; undefined: it stands still. */
  #running: { isOver: boolean; ended: Promise<void> } | undefined

  constructor(tab: Pick<Tab, 'session' | 'lifecycle' | 'foreignFrames'>) {
    this.#tab = tab
    tab.session.on('Emulation.virtualTimeBudgetExpired', () => this.#onExpired())
  }

  /** Milliseconds by which the page's clock is ahead of real time. */
  get lead(): number {
    return (this.#reached ?? performance.now()) - performance.now()
  }

  /**
   * Lets the page live through so many milliseconds at once, and through those by which it is behind real time. The clock stops for requests while
   * `hasPendingRequests`.
   * @param until when to give up, on the runner's clock
   * @throws the signal's reason
   */
  async advance(milliseconds: number, hasPendingRequests: HasPendingRequests, until: number, signal: AbortSignal): Promise<void> {
    this.#reached ??= performance.now()
    const budget = milliseconds + Math.max(0, Math.floor(-this.lead))
    let isStopping = hasPendingRequests() || !this.#tab.lifecycle.isStreaming
    let expired = this.#grant(budget, isStopping, signal)
    await this.#advanceFrames(budget)
    while (!(await isWithin(CHECK_MILLISECONDS, expired, signal))) {
      if (performance.now() > until) return
      if (!isStopping || hasPendingRequests()) continue
      isStopping = false
      expired = this.#grant(budget, isStopping, signal)
    }
    this.#reached += budget
  }

  /** Lets as much time pass for the page as passes for the runner. @throws the signal's reason */
  async pass(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (this.#running) return pause(milliseconds, signal)
    await Promise.all([pause(milliseconds, signal), this.advance(milliseconds, NOT_ASKING, performance.now() + milliseconds, signal)])
  }

  /** Keeps the clock ahead of real time until the browser has drawn what it was asked for. @throws the signal's reason */
  async whileDrawing<T>(drawing: Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#running) return drawing
    let isOver = false
    const end = () => {
      isOver = true
    }
    const ended = drawing.then(end, end)
    while (!isOver) {
      if (this.lead < LEAD_MILLISECONDS) {
        await this.advance(2 * LEAD_MILLISECONDS, NOT_ASKING, performance.now() + BUSY_MILLISECONDS, signal)
      }
      await isWithin(Math.max(CHECK_MILLISECONDS, this.lead - LEAD_MILLISECONDS), ended, signal)
    }
    return drawing
  }

  /** Keeps the clock going as fast as real time, for steps that do not advance it. Ends with the signal, or by {@link hold}. */
  keepRunning(signal: AbortSignal): void {
    if (this.#running) return
    const running = { isOver: false, ended: Promise.resolve() }
    running.ended = this.#run(running, signal).catch(() => {})
    this.#running = running
  }

  /** Lets the clock stand still again, so that it can be advanced. */
  async hold(): Promise<void> {
    const running = this.#running
    if (!running) return
    this.#running = undefined
    running.isOver = true
    await running.ended
  }

  async #run(running: { isOver: boolean }, signal: AbortSignal): Promise<void> {
    let before = performance.now()
    do {
      await pause(TICK_MILLISECONDS, signal)
      const now = performance.now()
      await this.advance(now - before, NOT_ASKING, Number.POSITIVE_INFINITY, signal)
      before = now
    } while (!running.isOver)
  }

  #grant(budget: number, isStopping: boolean, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onExpired = resolve
    const policy = isStopping ? 'pauseIfNetworkFetchesPending' : 'advance'
    const granted = this.#tab.session.send('Emulation.setVirtualTimePolicy', {
      policy,
      budget,
      maxVirtualTimeTaskStarvationCount: STARVATION,
    })
    return raced(
      granted.then(() => promise),
      signal,
    )
  }

  /** Frames of other processes have clocks of their own. They are not waited for: one that hangs must not stop the page. */
  async #advanceFrames(budget: number): Promise<void> {
    for (const frame of await this.#tab.foreignFrames()) {
      const grant = { policy: 'advance' as const, budget, maxVirtualTimeTaskStarvationCount: STARVATION }
      frame.send('Emulation.setVirtualTimePolicy', grant).catch(() => {})
    }
  }
}

async function isWithin(milliseconds: number, promise: Promise<void>, signal: AbortSignal): Promise<boolean> {
  const { promise: over, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(() => resolve(false), milliseconds)
  try {
    return await raced(Promise.race([promise.then(() => true as const), over]), signal)
  } finally {
    clearTimeout(timer)
  }
}
