import { pause } from '../race.ts'
import { follow } from './navigate.ts'
import type { Step, Work } from './step.ts'

/** Milliseconds that fonts and images may take after the page has loaded. */
const MAX_MILLISECONDS = 3_000
const INTERVALS = [10, 20, 50, 100]

/** Waits until fonts and the images that will be in the picture are there, and the page has stopped going elsewhere. */
export const settle: Step = {
  name: 'settle',
  run: async (work) => {
    const until = performance.now() + MAX_MILLISECONDS
    for (let i = 0; ; i++) {
      await follow(work)
      const open = await countOpen(work)
      if (open === 0 && !work.tab.lifecycle.isMoving) return
      if (performance.now() > until) {
        work.findings.warnings.push('fonts or images were still loading when the picture was taken')
        return
      }
      await pause(INTERVALS[Math.min(i, INTERVALS.length - 1)] ?? 0, work.signal)
    }
  },
}

/** How many fonts and images are still to come; undefined when the document changed under the question. */
async function countOpen({ tab, plan, signal }: Work): Promise<number | undefined> {
  const { document } = tab.lifecycle
  const height = plan.picture.fullPage ? plan.picture.maxHeight : plan.context.viewport.height
  try {
    const open = await tab.look<number>(openWithin(height), signal)
    return tab.lifecycle.document === document ? open : undefined
  } catch (error) {
    signal.throwIfAborted()
    if (tab.lifecycle.isMoving || tab.lifecycle.document !== document) return undefined
    throw error
  }
}

/** Also hides the caret, whose blinking would make two pictures of one page differ. */
const openWithin = (height: number): string => `(() => {
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
