import { FrameClock } from '../../browser/frame-clock.ts'
import { toCall } from '../../page/call.ts'
import { isWithin, pause } from '../../runtime/race.ts'
import type { Work } from '../step.ts'
import type { Clock } from './dom-idle.ts'

/** Milliseconds of page time between two checks. */
const LOOK_MILLISECONDS = 100
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

/**
 * The time of a step. Before a video it passes in real time, because the recording expects the page's clock and its frames at the same time, and so it does
 * in tabs that draw by themselves.
 */
export const timeOf = async (work: Work): Promise<StepTime> =>
  work.plan.video || !work.tab.frames ? new RealTime(work) : new PageTime(work, await holdClock(work))

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

/** Time on the page's own clock. */
class PageTime implements StepTime {
  readonly interval = LOOK_MILLISECONDS
  readonly #work: Work
  readonly #clock: FrameClock
  readonly #started = performance.now()
  #elapsed = 0
  /** When the page's clock began to run in real time; undefined: it is paused. */
  #runningSince: number | undefined

  constructor(work: Work, clock: FrameClock) {
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
    this.#elapsed += await this.#clock.leap(milliseconds, () => this.#isWaiting, signal)
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

/** How long the page's clock stops for one request. The limit is short because a tracking pixel that never responds changes nothing visible. */
export const REQUEST_MILLISECONDS = 2_000
const SLICE_MILLISECONDS = 20
const AT_ONCE_MILLISECONDS = 4

/**
 * The page's clock, on hold. The first time, it takes over the frames of the tab, which have followed real time.
 * @throws the signal's reason; FrameHungError
 */
export async function holdClock(work: Work): Promise<FrameClock> {
  const { tab, onLongTask, signal } = work
  if (!tab.frames) throw new Error('a tab that draws by itself has no clock')
  work.clock ??= await FrameClock.take(tab, tab.frames, onLongTask, signal)
  await work.clock.hold()
  return work.clock
}

/** Waits for this time, and lets it pass for a page with a paused clock. */
export const passTime = ({ clock, signal }: Work, milliseconds: number): Promise<void> =>
  clock?.pass(milliseconds, signal) ?? pause(milliseconds, signal)

/** Keeps the page's clock running until an answer is there that may need tasks of the page. Most need none, and are there at once. */
export async function whileTimePasses<T>({ clock, signal }: Work, answer: Promise<T>): Promise<T> {
  while (clock && !(await isWithin(AT_ONCE_MILLISECONDS, answer, signal))) await clock.pass(SLICE_MILLISECONDS, signal)
  return answer
}

/** Page time until the next frame of a page whose clock is held. */
const FRAME_MILLISECONDS = 16

/** Waits for the next frame of the page, at most `milliseconds`. Uses no frame callback, which would count as a script of the page. */
export async function nextFrame({ tab, clock, signal }: Work, milliseconds: number): Promise<void> {
  if (clock?.isHeld) return void (await clock.advance(FRAME_MILLISECONDS, false, signal))
  // The document may be replaced meanwhile.
  const frame = tab.evaluate(toCall('nextFrame'), signal, { awaitPromise: true }).catch(() => signal.throwIfAborted())
  await Promise.race([frame, pause(milliseconds, signal)])
}
