import type { CapturePlan } from '../../plan/plan.ts'
import { answered, pause } from '../../runtime/race.ts'
import { inDocument } from '../in-document.ts'
import { follow } from '../navigation/navigate.ts'
import type { Step, Work } from '../step.ts'

const INTERVALS = [10, 20, 50, 100]

/**
 * Milliseconds that requests may take which the first look has found under way. Backgrounds are asked for when the page is first laid out, which may be
 * after its load event, and no script can ask whether one is there. A counter's hung pixel looks the same, hence no longer.
 */
const BACKGROUND_MILLISECONDS = 1_000

/** Waits until fonts and the images that will be in the picture are there, and the page has stopped going elsewhere. */
export const settle: Step = {
  name: 'settle',
  run: async (work) => {
    const { lifecycle } = work.tab
    const started = performance.now()
    let first: { document: string | undefined; requests: ReadonlySet<string> } | undefined
    for (let i = 0; ; i++) {
      await follow(work)
      const open = await countOpen(work)
      if (!first || first.document !== lifecycle.document) first = { document: lifecycle.document, requests: lifecycle.painting }
      const taken = performance.now() - started
      const isPainted = taken > BACKGROUND_MILLISECONDS || first.requests.isDisjointFrom(lifecycle.painting)
      if (open === 0 && isPainted && !lifecycle.isMoving) return
      if (isPatienceOver(work.plan, taken)) {
        if (work.plan.settleMilliseconds > 0) work.findings.warnings.push('fonts or images were still loading when the picture was taken')
        return
      }
      await pause(INTERVALS[Math.min(i, INTERVALS.length - 1)] ?? 0, work.signal)
    }
  },
}

const isPatienceOver = ({ settleMilliseconds, imagesMilliseconds = 0 }: CapturePlan, taken: number): boolean =>
  taken >= Math.max(settleMilliseconds, imagesMilliseconds)

/** How many fonts and images are still to come; undefined when the document changed under the question. */
function countOpen({ tab, plan, signal }: Work): Promise<number | undefined> {
  const { document } = tab.lifecycle
  return inDocument({ tab, signal }, undefined, async () => {
    const open = await tab.look<number>(openWithin(plan.picture.reach), signal)
    // The requests that laying out has caused may be told after its answer, and are told before the next one.
    await answered(tab.session.send('Page.getLayoutMetrics'), signal)
    return tab.lifecycle.document === document ? open : undefined
  })
}

/** Lays the page out first, so that what it needs is asked for. Also hides the caret, whose blinking would make two pictures of one page differ. */
const openWithin = (height: number): string => `(() => {
  document.documentElement?.getBoundingClientRect()
  const isNear = (image) => {
    const { top, bottom, left, right, width } = image.getBoundingClientRect()
    return width > 0 && bottom > 0 && right > 0 && left < innerWidth && top < ${height}
  }
  const active = document.activeElement
  if (active && (active.isContentEditable || /^(input|textarea)$/i.test(active.tagName))) {
    active.style.setProperty('caret-color', 'transparent', 'important')
  }
  const fonts = document.fonts?.status === 'loading' ? 1 : 0
  return fonts + [...document.images].filter((image) => !image.complete && isNear(image)).length
})()`
