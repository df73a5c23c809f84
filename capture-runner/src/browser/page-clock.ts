import { abortable, pause } from '../runtime/race.ts'
import type { Tab } from './tab.ts'

// The page's virtual clock (ADR 34). Timers, dates and performance.now of a normal tab run ahead of real time. Frames, CSS animations and the network
// stay on real time. Once advanced, the clock is paused between advances. It cannot return to real time.
//
// The compositor uses the same clock to schedule frames, whose times are real. While the page's clock is behind real time, each frame is late by the
// difference: after a pause of ten seconds, a screenshot takes ten seconds. So the runner keeps the clock ahead.

/** Milliseconds between two checks whether the clock is blocked. */
const CHECK_MILLISECONDS = 50
/** Real time between two advances of a clock that runs in real time. */
const TICK_MILLISECONDS = 20
/** How far the clock is ahead while the browser draws. */
const LEAD_MILLISECONDS = 100
/** Real time in which the clock of a busy page advances. */
const BUSY_MILLISECONDS = 2_000
/** Tasks that may run at one moment of page time. Without a limit, an endless chain of messages would stop the clock. */
const STARVATION = 1_000

/** Whether the page waits for a response that the clock should stop for. */
export type HasPendingRequests = () => boolean
const NO_REQUESTS: HasPendingRequests = () => false

/** Advances the virtual clock of one page. */
export class PageClock {
  readonly #tab: Pick<Tab, 'session' | 'lifecycle' | 'foreignFrames'>
  #onExpired = () => {}
  /** Page time, as a time on the runner's clock. */
  #reached: number | undefined
  /** Keeps the clock running; undefined: it is paused. */
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
   * Advances the page's clock by this time at once, plus any time that it is behind real time. The clock stops for requests while
   * `hasPendingRequests` returns true.
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

  /** Lets page time and real time pass together. @throws the signal's reason */
  async pass(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (this.#running) return pause(milliseconds, signal)
    await Promise.all([pause(milliseconds, signal), this.advance(milliseconds, NO_REQUESTS, performance.now() + milliseconds, signal)])
  }

  /** Keeps the clock ahead of real time until the browser has finished drawing. @throws the signal's reason */
  async whileDrawing<T>(drawing: Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#running) return drawing
    let isOver = false
    const end = () => {
      isOver = true
    }
    const ended = drawing.then(end, end)
    while (!isOver) {
      if (this.lead < LEAD_MILLISECONDS) {
        await this.advance(2 * LEAD_MILLISECONDS, NO_REQUESTS, performance.now() + BUSY_MILLISECONDS, signal)
      }
      await isWithin(Math.max(CHECK_MILLISECONDS, this.lead - LEAD_MILLISECONDS), ended, signal)
    }
    return drawing
  }

  /** Keeps the clock running at real speed, for steps that do not advance it. Ends with the signal, or by {@link hold}. */
  keepRunning(signal: AbortSignal): void {
    if (this.#running) return
    const running = { isOver: false, ended: Promise.resolve() }
    running.ended = this.#run(running, signal).catch(() => {})
    this.#running = running
  }

  /** Pauses the clock, so that it can be advanced. */
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
      await this.advance(now - before, NO_REQUESTS, Number.POSITIVE_INFINITY, signal)
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
    return abortable(
      granted.then(() => promise),
      signal,
    )
  }

  /** Out-of-process frames have their own clocks. They are not awaited, because a hung frame must not stop the page. */
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
    return await abortable(Promise.race([promise.then(() => true as const), over]), signal)
  } finally {
    clearTimeout(timer)
  }
}
