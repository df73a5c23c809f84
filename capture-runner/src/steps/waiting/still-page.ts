import { callInPage } from '../../page/call.ts'
import { addStyles } from '../injection/add-styles.ts'
import type { Step, Work } from '../step.ts'
import { restMarquees } from './marquees.ts'
import { passTime } from './pass-time.ts'
import { endlessTimeOf, restEndless } from './rest-endless.ts'

/** Time limit for videos to seek to their beginning. */
const SEEK_MILLISECONDS = 2_000
const INTERVAL_MILLISECONDS = 20

/** Freezes the page for the screenshot: endless animations at a fixed time; with options, all animations at their end, and videos at their beginning. */
export const stillPage: Step = {
  name: 'stillPage',
  onFailure: 'warn',
  isWanted: (plan) => plan.options.disableAnimations || plan.options.pauseVideos || endlessTimeOf(plan) !== undefined,
  run: async (work) => {
    const { disableAnimations, pauseVideos } = work.plan.options
    if (disableAnimations) {
      await addStyles(work, '*, *::before, *::after { transition: none !important; scroll-behavior: auto !important }')
      if (await callInPage(work, 'endAnimations')) await restMarquees(work)
    } else await restEndless(work)
    if (pauseVideos) await rewind(work)
  },
}

async function rewind(work: Work): Promise<void> {
  const until = performance.now() + SEEK_MILLISECONDS
  await callInPage(work, 'rewindMedia')
  // The page learns of the seek by events, which need time to run.
  do await passTime(work, INTERVAL_MILLISECONDS)
  while (performance.now() < until && (await callInPage(work, 'isSeeking')))
}
