import { callInPage } from '../../page/call.ts'
import type { CapturePlan } from '../../plan/plan.ts'
import { awaitResponse, pause } from '../../runtime/race.ts'
import { inDocument } from '../in-document.ts'
import { follow } from '../navigation/navigate.ts'
import type { Step, Work } from '../step.ts'

const INTERVALS = [10, 20, 50, 100]

/**
 * How long to wait for requests that the first check found pending. The browser requests background images at the first layout, perhaps after the
 * load event, and no script can detect them. The limit is short because a tracking pixel that never responds looks the same.
 */
const BACKGROUND_MILLISECONDS = 1_000

/** Waits until fonts and visible images are loaded and no navigation is pending. */
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
      if (isTimeOver(work.plan, taken)) {
        if (work.plan.settleMilliseconds > 0) work.findings.warnings.push('fonts or images were still loading when the picture was taken')
        return
      }
      await pause(INTERVALS[Math.min(i, INTERVALS.length - 1)] ?? 0, work.signal)
    }
  },
}

const isTimeOver = ({ settleMilliseconds, imagesMilliseconds = 0 }: CapturePlan, taken: number): boolean =>
  taken >= Math.max(settleMilliseconds, imagesMilliseconds)

/** Number of fonts and images that are still loading; undefined if the document changed meanwhile. */
function countOpen({ tab, plan, signal }: Work): Promise<number | undefined> {
  const { document } = tab.lifecycle
  return inDocument({ tab, signal }, undefined, async () => {
    const open = await callInPage({ tab, signal }, 'countLoading', plan.picture.reach)
    // Events of requests that the layout started may arrive after its response, but before the next response.
    await awaitResponse(tab.session.send('Page.getLayoutMetrics'), signal)
    return tab.lifecycle.document === document ? open : undefined
  })
}
