import type { Step } from '../step.ts'
import { whileTimePasses } from './page-time.ts'
import { settle } from './settle.ts'
import { stability } from './stability.ts'

/** Waits for images that the page added during the wait for stability, and for the effects of their arrival, such as a fade. */
export const lateImages: Step = {
  name: 'lateImages',
  isWanted: (plan) => plan.imagesMilliseconds !== undefined && plan.stabilityMilliseconds > 0,
  run: async (work) => {
    if (work.tab.lifecycle.pendingImages.length === 0) return
    await whileTimePasses(work, settle.run(work))
    await stability.run(work)
  },
}
