import type { PageClock } from '../../browser/page-clock.ts'
import { pause } from '../../runtime/race.ts'
import type { Work } from '../step.ts'
import type { Clock } from './dom-idle.ts'
import { bringForward } from './motion.ts'
import { clockOf, REQUEST_MILLISECONDS } from './pass-time.ts'

/** Milliseconds of the page between two looks at it. */
const LOOK_MILLISECONDS = 100
/** Milliseconds of real time that go with those of the page: the browser draws a frame. */
const FRAME_MILLISECONDS = 17
/** Milliseconds of real time that pass at once where another process or a server is waited for. */
const REAL_SLICE_MILLISECONDS = 50

/** Time since the step began, and how it passes. */
export class PageTime implements Clock {
  readonly interval = LOOK_MILLISECONDS
  readonly #work: Work
  readonly #clock: PageClock
  readonly #started = performance.now()
  #lived = 0
  /** Since when the page's clock keeps up with the runner's; undefined: it stands still. */
  #runningSince: number | undefined

  constructor(work: Work) {
    this.#work = work
    this.#clock = clockOf(work)
  }

  /** Milliseconds of real time. */
  get real(): number {
    return performance.now() - this.#started
  }

  /** Milliseconds that the page has lived through. */
  get page(): number {
    return this.#lived + (this.#runningSince === undefined ? 0 : performance.now() - this.#runningSince)
  }

  now(): number {
    return this.page
  }

  /** Lets the page live through so many milliseconds at once, and draw a frame. Time passes as it really does while the page waits for an answer. */
  async pass(milliseconds: number): Promise<void> {
    if (this.#isAsking) return this.keepUp()
    await this.#hold()
    const { signal } = this.#work
    const before = performance.now()
    // The clock stops for a request that begins meanwhile.
    const advanced = this.#clock.advance(milliseconds, () => this.#isAsking, before + 2 * REAL_SLICE_MILLISECONDS, signal)
    await Promise.all([advanced, pause(FRAME_MILLISECONDS, signal)])
    const lived = this.#isAsking ? Math.min(milliseconds, performance.now() - before) : milliseconds
    this.#lived += lived
    await bringForward(this.#work, lived)
  }

  /** Lets a moment pass for the page as it does for the runner. */
  async keepUp(): Promise<void> {
    this.run()
    await pause(REAL_SLICE_MILLISECONDS, this.#work.signal)
  }

  /** Has the page's clock keep up with the runner's from now on. */
  run(): void {
    this.#clock.keepRunning(this.#work.signal)
    this.#runningSince ??= performance.now()
  }

  async #hold(): Promise<void> {
    await this.#clock.hold()
    this.#lived = this.page
    this.#runningSince = undefined
  }

  get #isAsking(): boolean {
    const now = performance.now()
    return this.#work.tab.lifecycle.isAsking(now - REQUEST_MILLISECONDS, now)
  }
}
