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
/** Page time that follows, once, a change or a script in a step that was longer than usual, because its frames are missing. */
const SKIPPED_MILLISECONDS = 1_500
/** Frames of a step of a page whose scripts run in frames: some count them instead of time. Two seconds get 120 frames. */
const COUNTED_FRAMES = 4
/** The same while the page looks different in them. Most measure the time then, and these frames cost more. The others get theirs at the end. */
const DAMAGED_FRAMES = 2

/** What came of a step of page time and its frame. */
export interface StepEnd {
  isDrawn: boolean
  /** Unknown if the frame was not drawn. */
  hasDamage: boolean
  hasScript: boolean
  /** Scripts ran in the frame. */
  hasFrameScript?: boolean | undefined
}

/** Decides about the next frame of a page. */
export class FramePace {
  #milliseconds = MOVING_MILLISECONDS
  #isMoving = false
  #undrawn = 0
  #resting = 0
  #isExtended = false

  /** Frames of the next step, at equal distances. Only the last one may be drawn. */
  frames = 1

  /** Page time of the next step. @param left of the wait; 0: it goes on because the page gains content */
  stepWithin(left: number): number {
    if (left <= 0) return this.#milliseconds
    return this.#resting >= RESTING_FRAMES ? left : Math.min(this.#milliseconds, left)
  }

  /** Whether the last frame of the next step must be drawn, which tells whether the page still moves. While it moves, few are. @param isLast no other frame follows */
  isDrawn(isLast: boolean): boolean {
    return isLast || !this.#isMoving || this.#undrawn + 1 >= DRAWN_EVERY
  }

  /** Notes the end of a step. */
  note({ isDrawn, hasDamage, hasScript, hasFrameScript }: StepEnd): void {
    this.#undrawn = isDrawn ? 0 : this.#undrawn + 1
    if (isDrawn) this.#isMoving = hasDamage
    this.frames = hasFrameScript ? this.#countedFrames : 1
    if (hasScript) this.#resting = 0
    if (hasFrameScript) this.#milliseconds = MOVING_MILLISECONDS
    if (!isDrawn) return
    this.#resting = hasDamage || hasScript ? 0 : this.#resting + 1
    this.#milliseconds = hasDamage || hasFrameScript ? MOVING_MILLISECONDS : Math.min(MAX_MILLISECONDS, this.#milliseconds * GROWTH)
  }

  get #countedFrames(): number {
    return this.#isMoving && !this.#isExtended ? DAMAGED_FRAMES : COUNTED_FRAMES
  }

  /**
   * Page time to add, once: for frames that a page with scripts has missed, or for scripts that count frames and still move the page at the end.
   * @param milliseconds of the step @param isOver the wait is over, in less than its time: no browser draws more frames of a slower page
   */
  extend(milliseconds: number, isOver: boolean, { hasDamage, hasScript, hasFrameScript }: StepEnd): number {
    const hasSkipped = milliseconds > MAX_MILLISECONDS && (hasDamage || hasScript)
    const mayCount = isOver && this.#isMoving && hasFrameScript
    if (this.#isExtended || !(hasSkipped || mayCount)) return 0
    this.#isExtended = true
    return SKIPPED_MILLISECONDS
  }
}

/** Whether a page is slower than its timers and frame callbacks demand. @param threadSeconds processor time of its scripts in the wait */
export const isTooSlow = (threadSeconds: number): boolean => threadSeconds >= MAX_THREAD_SECONDS
