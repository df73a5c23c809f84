// How the time of a page passes whose frames the runner begins (ADR 34). Each frame costs real time, so a page that shows nothing new gets fewer.

/** Page time between two frames while the page looks different in each. */
const MOVING_MILLISECONDS = 66
/** Maximum page time between two frames. Tween libraries treat a gap over 500 ms as a pause. */
const MAX_MILLISECONDS = 250
const GROWTH = 1.5
/** While the page moves, only each of so many frames is drawn. The others run its frame callbacks and animations. */
const DRAWN_EVERY = 4
/** Processor time of the page's scripts after which they are stopped. */
const MAX_THREAD_SECONDS = 3
/** Real time after which the wait ends. */
export const MAX_REAL_MILLISECONDS = 8_000

/** Decides about the next frame of a page. */
export class FramePace {
  /** Page time until the next frame. */
  milliseconds = MOVING_MILLISECONDS
  #isMoving = false
  #undrawn = 0

  /** Whether the next frame must be drawn, which tells whether the page still moves. @param isLast no other frame follows */
  isDrawn(isLast: boolean): boolean {
    return isLast || !this.#isMoving || this.#undrawn + 1 >= DRAWN_EVERY
  }

  /** Notes what came of a frame. */
  note(isDrawn: boolean, hasDamage: boolean): void {
    this.#undrawn = isDrawn ? 0 : this.#undrawn + 1
    if (!isDrawn) return
    this.#isMoving = hasDamage
    this.milliseconds = hasDamage ? MOVING_MILLISECONDS : Math.min(MAX_MILLISECONDS, this.milliseconds * GROWTH)
  }
}

/** Whether a page is slower than its timers and frame callbacks demand. @param threadSeconds processor time of its scripts in the wait */
export const isTooSlow = (threadSeconds: number, realMilliseconds: number): boolean =>
  threadSeconds >= MAX_THREAD_SECONDS || realMilliseconds >= MAX_REAL_MILLISECONDS
