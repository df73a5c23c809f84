import { answered } from '../../runtime/race.ts'
import { inDocument } from '../in-document.ts'
import type { Work } from '../step.ts'

/** What moves in a page. */
export interface Motion {
  /** Its scripts have run since the last look: timers, frame callbacks, observers, responses. */
  hasScript: boolean
  /** They have changed elements since then. */
  hasChanges: boolean
  /** Animations and transitions that end within the time that is left. */
  animations: number
  canvases: number
}

/** Nothing moves. */
export const STILL: Motion = { hasScript: false, hasChanges: false, animations: 0, canvases: 0 }

/** Whether something in the page may look different soon. Scripts that run and change nothing do not count; what they draw on a canvas cannot be seen. */
export const isMoving = ({ hasScript, hasChanges, animations, canvases }: Motion): boolean =>
  animations > 0 || hasChanges || (hasScript && canvases > 0)

/** Watches what moves in one page. */
export class MotionWatch {
  readonly #work: Work
  #scriptSeconds = 0
  #last: Motion | undefined

  constructor(work: Work) {
    this.#work = work
  }

  /** Whether the page has ever run a script. */
  get hasScripts(): boolean {
    return this.#scriptSeconds > 0
  }

  /**
   * Looks at what moves, after it has brought finite animations forward.
   * @param milliseconds by how much
   * @param left milliseconds of page time in which an animation must end to count
   */
  async look(milliseconds: number, left: number): Promise<Motion> {
    const { tab, signal } = this.#work
    const seconds = await scriptSeconds(this.#work)
    const hasScript = seconds === undefined || seconds !== this.#scriptSeconds
    this.#scriptSeconds = seconds ?? this.#scriptSeconds
    // What scripts have not touched, and what did not move before, does not move.
    if (this.#last && !hasScript && this.#last.animations === 0) return this.#note(STILL)
    const seen = await inDocument(this.#work, { ...STILL, hasScript: true, hasChanges: true }, () =>
      tab.look<Omit<Motion, 'hasScript'>>(`(${forward})(${milliseconds}, ${left})`, signal),
    )
    return this.#note({ hasScript, ...seen })
  }

  #note(motion: Motion): Motion {
    this.#last = motion
    return motion
  }
}

/** Brings finite animations forward, for a page whose clock was advanced: they are on real time. */
export const bringForward = (work: Work, milliseconds: number): Promise<void> =>
  inDocument(work, undefined, () => work.tab.look<void>(`(${forward})(${milliseconds}, 0)`, work.signal))

/** Seconds that scripts of the page's own process have run, as the browser counts since the tab was opened; undefined while the page leaves. */
export const scriptSeconds = (work: Work): Promise<number | undefined> =>
  inDocument(work, undefined, async () => {
    const { metrics } = await answered(work.tab.session.send('Performance.getMetrics'), work.signal)
    return metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? 0
  })

/**
 * Runs in the page. Endless animations, and those on the place that the page is scrolled to, are left alone. The first look at a document notes no
 * changes: it begins to observe them.
 */
const forward = `(milliseconds, left) => {
  const watch = globalThis.tintypeMotion ??= { roots: new WeakSet(), changes: 0, observer: undefined }
  watch.observer ??= new MutationObserver((records) => { watch.changes += records.length })
  let animations = 0
  let canvases = 0
  const go = (root) => {
    if (!watch.roots.has(root)) {
      watch.roots.add(root)
      watch.observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true })
    }
    for (const animation of root.getAnimations()) {
      if (animation.playState !== 'running' || !animation.timeline || 'source' in animation.timeline) continue
      const end = animation.effect?.getComputedTiming().endTime
      if (typeof end !== 'number' || end === Infinity || animation.playbackRate <= 0) continue
      const next = Number(animation.currentTime ?? 0) + milliseconds * animation.playbackRate
      if (milliseconds > 0 && next >= end) animation.finish()
      else {
        if (milliseconds > 0) animation.currentTime = next
        if ((end - next) / animation.playbackRate <= left) animations++
      }
    }
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) go(element.shadowRoot)
      else if (element.localName === 'canvas') canvases++
      else if (element.localName === 'iframe') {
        try { if (element.contentDocument) go(element.contentDocument) } catch {}
      }
    }
  }
  go(document)
  const changes = watch.changes + watch.observer.takeRecords().length
  watch.changes = 0
  return { hasChanges: changes > 0, animations, canvases }
}`
