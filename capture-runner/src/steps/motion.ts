import { answered } from '../race.ts'
import type { Step, Work } from './step.ts'

/** What moves in a page. */
export interface Motion {
  /** Its scripts have run since the last look: timers, frame callbacks, observers, answers. */
  hasScript: boolean
  /** Animations and transitions that end within the time that is left. */
  animations: number
  canvases: number
}

/** Begins to watch the page's scripts. Comes early, so that one frame at least passes before the first look. */
export const watchMotion: Step = {
  name: 'watchMotion',
  isWanted: (plan) => plan.stabilityMilliseconds > 0,
  run: async (work) => {
    await answered(work.tab.session.send('Performance.enable'), work.signal)
    work.scriptWatch = { startedAt: performance.now(), seconds: scriptSeconds(work) }
  },
}

/**
 * Looks at what moves, after it has brought finite animations forward.
 * @param milliseconds by how much
 * @param left milliseconds of page time in which an animation must end to count
 */
export async function senseMotion(work: Work, milliseconds: number, left: number): Promise<Motion> {
  const { tab, signal, scriptWatch } = work
  const { document } = tab.lifecycle
  const seconds = scriptSeconds(work)
  const seen = tab.look<Omit<Motion, 'hasScript'>>(`(${forward})(${milliseconds}, ${left})`, signal)
  try {
    const [{ animations, canvases }, now, before] = await Promise.all([seen, seconds, scriptWatch?.seconds])
    work.scriptWatch = { startedAt: performance.now(), seconds: Promise.resolve(now) }
    return { hasScript: now !== before, animations, canvases }
  } catch (error) {
    signal.throwIfAborted()
    // The document went away under the question.
    if (tab.lifecycle.isMoving || tab.lifecycle.document !== document) return { hasScript: true, animations: 0, canvases: 0 }
    throw error
  }
}

async function scriptSeconds({ tab, signal }: Work): Promise<number | undefined> {
  const { metrics } = await answered(tab.session.send('Performance.getMetrics'), signal)
  return metrics.find(({ name }) => name === 'ScriptDuration')?.value
}

/** Runs in the page. Endless animations, and those on the place that the page is scrolled to, are left alone. */
const forward = `(milliseconds, left) => {
  let animations = 0
  const go = (root) => {
    for (const animation of root.getAnimations()) {
      if (animation.playState !== 'running' || !(animation.timeline instanceof DocumentTimeline)) continue
      const end = animation.effect?.getComputedTiming().endTime
      if (typeof end !== 'number' || end === Infinity || animation.playbackRate <= 0) continue
      const next = Number(animation.currentTime ?? 0) + milliseconds * animation.playbackRate
      if (milliseconds > 0 && next >= end) animation.finish()
      else {
        if (milliseconds > 0) animation.currentTime = next
        if ((end - next) / animation.playbackRate <= left) animations++
      }
    }
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) go(element.shadowRoot)
  }
  go(document)
  return { animations, canvases: document.querySelectorAll('canvas').length }
}`
