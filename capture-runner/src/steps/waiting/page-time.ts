import { FrameClock } from '../../browser/frame-clock.ts'
import { pause } from '../../runtime/race.ts'
import type { Work } from '../step.ts'
import type { Clock } from './dom-idle.ts'
import { bringForward } from './motion.ts'
import { holdClock, REQUEST_MILLISECONDS } from './pass-time.ts'

/** Milliseconds of page time between two checks. */
const LOOK_MILLISECONDS = 100
/** Real time that passes with each slice of page time, in which the browser draws a frame. */
const FRAME_MILLISECONDS = 17
/** Real time that passes at once while another process or a server is awaited. */
const REAL_SLICE_MILLISECONDS = 50

/** Time since a step began, in page time and in real time. */
export interface StepTime extends Clock {
  /** Milliseconds of real time. */
  readonly real: number
  /** Milliseconds of page time. */
  readonly page: number
  /** Lets a short time pass for the page in real time. */
  keepUp: () => Promise<void>
}

/** The time of a step. Before a video it passes in real time, because the recording expects the page's clock and its frames at the same time. */
export const timeOf = async (work: Work): Promise<StepTime> =>
  work.plan.video || work.isRealTime ? new RealTime(work) : new PageTime(work, await holdClock(work))

class RealTime implements StepTime {
  readonly interval = LOOK_MILLISECONDS
  readonly #signal: AbortSignal
  readonly #started = performance.now()

  constructor({ signal }: Work) {
    this.#signal = signal
  }

  get real(): number {
    return performance.now() - this.#started
  }

  get page(): number {
    return this.real
  }

  now(): number {
    return this.real
  }

  pass(milliseconds: number): Promise<void> {
    return pause(milliseconds, this.#signal)
  }

  keepUp(): Promise<void> {
    return this.pass(REAL_SLICE_MILLISECONDS)
  }

  run(): void {}
}

/** Time on the page's virtual clock. */
class PageTime implements StepTime {
  readonly interval = LOOK_MILLISECONDS
  readonly #work: Work
  readonly #clock: NonNullable<Work['clock']>
  readonly #started = performance.now()
  #elapsed = 0
  /** When the page's clock began to run in real time; undefined: it is paused. */
  #runningSince: number | undefined

  constructor(work: Work, clock: NonNullable<Work['clock']>) {
    this.#work = work
    this.#clock = clock
  }

  /** Milliseconds of real time. */
  get real(): number {
    return performance.now() - this.#started
  }

  /** Milliseconds of page time. */
  get page(): number {
    return this.#elapsed + (this.#runningSince === undefined ? 0 : performance.now() - this.#runningSince)
  }

  now(): number {
    return this.page
  }

  /** Advances the page by this time at once, and draws a frame. While the page waits for a response, real time passes instead. */
  async pass(milliseconds: number): Promise<void> {
    if (this.#isWaiting) return this.keepUp()
    await this.#hold()
    const { signal } = this.#work
    if (this.#clock instanceof FrameClock) {
      this.#elapsed += await this.#clock.leap(milliseconds, () => this.#isWaiting, signal)
      return
    }
    const before = performance.now()
    // The clock stops when a request begins meanwhile.
    const advanced = this.#clock.advance(milliseconds, () => this.#isWaiting, before + 2 * REAL_SLICE_MILLISECONDS, signal)
    await Promise.all([advanced, pause(FRAME_MILLISECONDS, signal)])
    const elapsed = this.#isWaiting ? Math.min(milliseconds, performance.now() - before) : milliseconds
    this.#elapsed += elapsed
    await bringForward(this.#work, elapsed)
  }

  /** Lets a short time pass for the page in real time. */
  async keepUp(): Promise<void> {
    this.run()
    await pause(REAL_SLICE_MILLISECONDS, this.#work.signal)
  }

  /** Lets the page's clock run in real time from now on. */
  run(): void {
    this.#clock.keepRunning(this.#work.signal)
    this.#runningSince ??= performance.now()
  }

  async #hold(): Promise<void> {
    await this.#clock.hold()
    this.#elapsed = this.page
    this.#runningSince = undefined
  }

  get #isWaiting(): boolean {
    const now = performance.now()
    return this.#work.tab.lifecycle.hasPendingRequests(now - REQUEST_MILLISECONDS, now)
  }
}
