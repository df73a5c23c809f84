import { DRAWN_EVERY } from '../../browser/frame-control.ts'

// How the time of a page passes whose frames the runner begins (ADR 34). Each frame costs real time, so a page that shows nothing new gets fewer.

/** Page time between two frames while the page looks different in each. */
const MOVING_MILLISECONDS = 66
/** Maximum page time between two frames. Tween libraries treat a gap over 500 ms as a pause. */
const MAX_MILLISECONDS = 250
const GROWTH = 1.5
/** Processor time of the page's scripts after which they are stopped. */
const MAX_THREAD_SECONDS = 3

/** Frames in a row without a change and without scripts after which only timers can be left, which need no frames between them. */
const RESTING_FRAMES = 2
/** Page time that follows a change or a script in a step that was longer than usual, because its frames are missing. */
export const SKIPPED_MILLISECONDS = 1_500
/** Frames that a page needs at least while its scripts move it: some count frames instead of time. Two seconds have as many. */
const MOVING_FRAMES = 120
/** Page time between those of them that follow the usual ones. */
const COUNTED_MILLISECONDS = 16

/** What came of a step of page time and its frame. */
export interface StepEnd {
  isDrawn: boolean
  /** Unknown if the frame was not drawn. */
  hasDamage: boolean
  hasScript: boolean
}

/** Decides about the next frame of a page. */
export class FramePace {
  #milliseconds = MOVING_MILLISECONDS
  #isMoving = false
  #undrawn = 0
  #resting = 0
  #frames = 0

  /** Page time until the next frame. @param left of the wait; 0: it goes on because the page gains content or still moves */
  stepWithin(left: number): number {
    if (left <= 0) return this.#isMoving ? COUNTED_MILLISECONDS : this.#milliseconds
    return this.#resting >= RESTING_FRAMES ? left : Math.min(this.#milliseconds, left)
  }

  /** Whether the next frame must be drawn, which tells whether the page still moves. While it moves, few are. @param isLast no other frame follows */
  isDrawn(isLast: boolean): boolean {
    return isLast || !this.#isMoving || this.#undrawn + 1 >= DRAWN_EVERY
  }

  /** Notes the end of a step. */
  note({ isDrawn, hasDamage, hasScript }: StepEnd): void {
    this.#frames += 1
    this.#undrawn = isDrawn ? 0 : this.#undrawn + 1
    if (hasScript) this.#resting = 0
    if (!isDrawn) return
    this.#resting = hasDamage || hasScript ? 0 : this.#resting + 1
    this.#isMoving = hasDamage
    this.#milliseconds = hasDamage ? MOVING_MILLISECONDS : Math.min(MAX_MILLISECONDS, this.#milliseconds * GROWTH)
  }

  /** Whether a step of this length has skipped frames that a page with scripts needs. */
  hasSkipped(milliseconds: number, { hasDamage, hasScript }: StepEnd): boolean {
    return milliseconds > MAX_MILLISECONDS && (hasDamage || hasScript)
  }

  /** Whether scripts that still move the page may count frames. */
  get mayCount(): boolean {
    return this.#isMoving && this.#frames < MOVING_FRAMES
  }
}

/** Whether a page is slower than its timers and frame callbacks demand. @param threadSeconds processor time of its scripts in the wait */
export const isTooSlow = (threadSeconds: number): boolean => threadSeconds >= MAX_THREAD_SECONDS
