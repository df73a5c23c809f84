import { callInPage } from '../../page/call.ts'
import type { CapturePlan } from '../../plan/plan.ts'
import { awaitResponse } from '../../runtime/race.ts'
import { addStyles } from '../injection/styles.ts'
import { inDocument, type Step, type Work } from '../step.ts'
import { pauseMarquees } from '../whole-page.ts'
import { nextFrame, passTime } from './page-time.ts'

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

/** A `<marquee>` starts to move with a frame, which a busy machine may draw late. One that does not move never gets an animation. */
const FRAMES = 2
const FRAME_MILLISECONDS = 1_000

/** Brings each `<marquee>` to rest. An endless one would look different in each picture. */
export async function restMarquees(work: Work): Promise<void> {
  for (let frames = 0; !(await inDocument(work, true, () => pauseMarquees(work))) && frames < FRAMES; frames++)
    await nextFrame(work, FRAME_MILLISECONDS)
}

/** When to stop endless animations, in milliseconds since they were started. Undefined: never. A video shows how they move. */
const endlessTimeOf = ({ video, endlessMilliseconds }: CapturePlan): number | undefined => (video ? undefined : endlessMilliseconds)

/** Stops endless animations at the same time in each capture, so that each picture shows the same. Costs nothing on a page that never had any. */
export async function restEndless(work: Work): Promise<void> {
  const milliseconds = endlessTimeOf(work.plan)
  if (milliseconds === undefined || work.hasEndless === false) return
  await inDocument(work, undefined, () => callInPage(work, 'restAnimations', milliseconds))
}

/** Warning of a page whose scripts were too slow. */
export const STOPPED = 'the scripts of the page took longer than its timers allow, and were stopped before the picture was taken'

/** Stops all scripts of the page and its frames for good. Style sheets and `<noscript>` continue as if scripts were enabled. */
export async function stopScripts(work: Work): Promise<void> {
  const { tab, signal } = work
  await inDocument(work, undefined, () => callInPage(work, 'keepScriptingRules'))
  const disable = { value: true }
  for (const frame of tab.foreignFrames()) frame.send('Emulation.setScriptExecutionDisabled', disable).catch(() => {})
  await awaitResponse(tab.session.send('Emulation.setScriptExecutionDisabled', disable), signal)
}
