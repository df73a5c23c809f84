import { abortable, awaitResponse, isWithin, pause } from '../runtime/race.ts'
import { type DevTools, readMetric } from './devtools.ts'
import { RealSpeed } from './real-speed.ts'
import type { Tab } from './tab.ts'
import { TaskWatch } from './task-watch.ts'

// The page's virtual clock (ADR 34). Timers, dates and performance.now of a normal tab run ahead of real time. Frames, CSS animations and the network
// stay on real time. Once advanced, the clock is paused between advances. It cannot return to real time.
//
// The compositor uses the same clock to schedule frames, whose times are real. While the page's clock is behind real time, each frame is late by the
// difference: after a pause of ten seconds, a screenshot takes ten seconds. So the runner keeps the clock ahead. A page whose tasks take longer than
// the page time between them falls behind. It never gets the time that it lacks while its scripts run, because that would take ever longer.

/** Milliseconds between two checks whether the clock is blocked. */
const CHECK_MILLISECONDS = 50
/** Real time after which an advance ends, whatever page time has passed. The page's tasks may take longer than the page time between them. */
const ADVANCE_MILLISECONDS = 1_000
/** Real time for which an advance stops for requests. Later, page time passes as fast as real time, because a request may depend on a timer. */
export const STOP_MILLISECONDS = 250
/** How far the clock is ahead while the browser draws. */
const LEAD_MILLISECONDS = 100
/** How far the clock is ahead after it was behind and the page's scripts were stopped. */
const CAUGHT_UP_MILLISECONDS = 500
/** Tasks that may run at one moment of page time. Without a limit, an endless chain of messages would stop the clock. */
const STARVATION = 1_000

/** Whether the page waits for a response that the clock should stop for. Undefined: the clock stops for no request. */
export type HasPendingRequests = (() => boolean) | undefined
const NO_REQUESTS: HasPendingRequests = undefined

/** A page's clock that stands still by default, for steps that need time or a picture after the wait for visual stability. */
export interface TabClock {
  /** Lets page time and real time pass together. @throws the signal's reason */
  pass: (milliseconds: number, signal: AbortSignal) => Promise<void>
  /** Does what the browser needs to finish drawing. @param stopScripts called if the page's scripts delay it. @throws the signal's reason */
  whileDrawing: <T>(drawing: Promise<T>, signal: AbortSignal, stopScripts?: () => Promise<void>) => Promise<T>
  /** Keeps the clock running at real speed, for steps that do not advance it. Ends with the signal, or by `hold`. */
  keepRunning: (signal: AbortSignal) => void
  /** Pauses the clock, so that it can be advanced. */
  hold: () => Promise<void>
  /** Ends all work of this clock, without a wait for the page. */
  close: () => void
}

/** Advances the virtual clock of one page. */
export class PageClock implements TabClock {
  readonly #tab: Pick<Tab, 'session' | 'lifecycle' | 'foreignFrames'>
  readonly #watch: TaskWatch
  #onExpired = () => {}
  /** Page time, as a time on the runner's clock. */
  #reached: number | undefined
  /** An earlier advance has not ended, so the end of the next one may be its end. */
  #isUncertain = false
  readonly #realSpeed = new RealSpeed((milliseconds, signal) => this.advance(milliseconds, NO_REQUESTS, Number.POSITIVE_INFINITY, signal))

  /** @param onLongTask called when a task of the page does not end, with its session */
  constructor(tab: Pick<Tab, 'session' | 'lifecycle' | 'foreignFrames'>, onLongTask: (session: DevTools) => void = () => {}) {
    this.#tab = tab
    this.#watch = new TaskWatch(tab, onLongTask)
    tab.session.on('Emulation.virtualTimeBudgetExpired', () => this.#onExpired())
  }

  /** Milliseconds by which the page's clock is ahead of real time. */
  get lead(): number {
    return (this.#reached ?? performance.now()) - performance.now()
  }

  /**
   * Advances the page's clock by this time at once, but for at most a second of real time. The clock stops for requests while `hasPendingRequests`
   * returns true, but not for long: then the advance ends.
   * @param until when to give up, on the runner's clock
   * @returns milliseconds of page time that have passed
   * @throws the signal's reason
   */
  async advance(milliseconds: number, hasPendingRequests: HasPendingRequests, until: number, signal: AbortSignal): Promise<number> {
    this.#watch.start(signal)
    this.#reached ??= performance.now()
    const before = this.#reached
    const started = performance.now()
    let isStopping = hasPendingRequests !== undefined && (hasPendingRequests() || !this.#tab.lifecycle.isStreaming)
    let expired = this.#grant(milliseconds, isStopping, signal)
    await this.#advanceFrames(milliseconds)
    const deadline = performance.now() + ADVANCE_MILLISECONDS
    for (;;) {
      const isExpired = await isWithin(CHECK_MILLISECONDS, expired, signal)
      const now = performance.now()
      if (isExpired && !this.#isUncertain) {
        this.#reached = before + milliseconds
        return milliseconds
      }
      if (isExpired) {
        await this.#read(signal)
        const left = before + milliseconds - this.#reached
        if (left < 1 || now > Math.min(until, deadline)) return this.#reached - before
        expired = this.#grant(left, isStopping, signal)
      } else if (isStopping && hasPendingRequests?.()) {
        if (now > Math.min(until, started + STOP_MILLISECONDS)) break
      } else if (now > Math.min(until, deadline)) break
      else if (isStopping) {
        isStopping = false
        expired = this.#grant(milliseconds, isStopping, signal)
      }
    }
    this.#isUncertain = true
    await this.#read(signal)
    return this.#reached - before
  }

  /** Lets page time and real time pass together. @throws the signal's reason */
  async pass(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (this.#realSpeed.isRunning) return pause(milliseconds, signal)
    await Promise.all([pause(milliseconds, signal), this.advance(milliseconds, NO_REQUESTS, performance.now() + milliseconds, signal)])
  }

  /**
   * Keeps the clock ahead of real time until the browser has finished drawing.
   * @param stopScripts stops the page's scripts if they keep its clock behind real time; absent: they go on, and the drawing may be late
   * @throws the signal's reason
   */
  async whileDrawing<T>(drawing: Promise<T>, signal: AbortSignal, stopScripts?: () => Promise<void>): Promise<T> {
    if (this.#realSpeed.isRunning) return drawing
    let isOver = false
    const end = () => {
      isOver = true
    }
    const ended = drawing.then(end, end)
    while (!isOver) {
      if (this.lead < -LEAD_MILLISECONDS && stopScripts) await this.catchUp(stopScripts, signal)
      else if (this.lead < LEAD_MILLISECONDS) await this.advance(2 * LEAD_MILLISECONDS, NO_REQUESTS, Number.POSITIVE_INFINITY, signal)
      await isWithin(Math.max(CHECK_MILLISECONDS, this.lead - LEAD_MILLISECONDS), ended, signal)
    }
    return drawing
  }

  /** If the clock is behind real time, stops the page's scripts and advances the clock. @returns whether it was behind */
  async catchUp(stopScripts: () => Promise<void>, signal: AbortSignal): Promise<boolean> {
    if (this.#isUncertain) await this.#read(signal)
    if (this.lead >= 0) return false
    await stopScripts()
    await this.advance(CAUGHT_UP_MILLISECONDS - this.lead, NO_REQUESTS, Number.POSITIVE_INFINITY, signal)
    return true
  }

  keepRunning(signal: AbortSignal): void {
    this.#realSpeed.start(signal)
  }

  hold(): Promise<void> {
    return this.#realSpeed.stop()
  }

  /** Ends all work of this clock, without a wait for the page. */
  close(): void {
    this.#watch.stop()
    this.#realSpeed.cancel()
  }

  /** Reads the page's clock. */
  async #read(signal: AbortSignal): Promise<void> {
    const timestamp = await awaitResponse(readMetric(this.#tab.session, 'Timestamp'), signal)
    // Both count from the start of the machine.
    const ahead = timestamp === undefined ? 0 : timestamp * 1_000 - Number(process.hrtime.bigint()) / 1e6
    this.#reached = performance.now() + ahead
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
