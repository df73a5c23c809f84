import { callInPage } from '../../page/call.ts'
import type { VisibleMotion } from '../../page/functions.ts'
import { awaitResponse } from '../../runtime/race.ts'
import { inDocument } from '../in-document.ts'
import type { Work } from '../step.ts'

/** Activity in a page. */
export interface Motion extends VisibleMotion {
  /** The page's scripts have run since the last sample: timers, frame callbacks, observers, responses. */
  hasScript: boolean
}

/** No activity. */
export const STILL: Motion = { hasScript: false, hasChanges: false, animations: 0, canvases: 0 }

/** Whether the page may soon look different. Scripts that change no element count only if there is a canvas, whose content cannot be observed. */
export const isMoving = ({ hasScript, hasChanges, animations, canvases }: Motion): boolean =>
  animations > 0 || hasChanges || (hasScript && canvases > 0)

/** Samples the activity in one page. */
export class MotionWatch {
  readonly #work: Work
  #scriptSeconds = 0
  #last: Motion | undefined

  constructor(work: Work) {
    this.#work = work
  }

  /** True if the page has ever run a script. */
  get hasScripts(): boolean {
    return this.#scriptSeconds > 0
  }

  /**
   * Advances finite animations and samples the page's activity.
   * @param milliseconds how far to advance animations
   * @param left remaining page time: only animations that end within it count
   */
  async sample(milliseconds: number, left: number): Promise<Motion> {
    const { tab, signal } = this.#work
    const seconds = await scriptSeconds(this.#work)
    const hasScript = seconds === undefined || seconds !== this.#scriptSeconds
    this.#scriptSeconds = seconds ?? this.#scriptSeconds
    // Without scripts and without animations in the last sample, nothing can have started to move.
    if (this.#last && !hasScript && this.#last.animations === 0) return this.#note(STILL)
    const seen = await inDocument(this.#work, { ...STILL, hasScript: true, hasChanges: true }, () =>
      callInPage({ tab, signal }, 'advanceAnimations', milliseconds, left),
    )
    return this.#note({ hasScript, ...seen })
  }

  #note(motion: Motion): Motion {
    this.#last = motion
    return motion
  }
}

/** Advances finite animations, for a page whose virtual clock was advanced. Animations themselves run on real time. */
export async function bringForward(work: Work, milliseconds: number): Promise<void> {
  await inDocument(work, undefined, () => callInPage(work, 'advanceAnimations', milliseconds, 0))
}

/** Seconds of script execution in the page's own process since the tab was opened, as the browser counts. Undefined during a navigation. */
export const scriptSeconds = (work: Work): Promise<number | undefined> =>
  inDocument(work, undefined, async () => {
    const { metrics } = await awaitResponse(work.tab.session.send('Performance.getMetrics'), work.signal)
    return metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? 0
  })
