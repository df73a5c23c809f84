import { addStyles } from '../injection/add-styles.ts'
import type { Step, Work } from '../step.ts'
import { passTime } from './pass-time.ts'

/** Time limit for videos to seek to their beginning. */
const SEEK_MILLISECONDS = 2_000
const INTERVAL_MILLISECONDS = 20

/** Freezes the page for the screenshot: animations at their end, videos at their beginning. */
export const stillPage: Step = {
  name: 'stillPage',
  isWanted: (plan) => plan.endAnimations === true || plan.pauseVideos === true,
  run: async (work) => {
    const { tab, plan, signal } = work
    if (plan.endAnimations) {
      await addStyles(work, '*, *::before, *::after { transition: none !important; scroll-behavior: auto !important }')
      await tab.evaluate(END_ANIMATIONS, signal)
    }
    if (plan.pauseVideos) await rewind(work)
  },
}

/** Finite animations jump to their end. Infinite ones are canceled and show the state before their beginning. */
const END_ANIMATIONS = `(() => {
  const end = (root) => {
    for (const animation of root.getAnimations()) {
      try {
        if (animation.effect?.getComputedTiming().endTime === Infinity) animation.cancel()
        else animation.finish()
      } catch {}
    }
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) end(element.shadowRoot)
  }
  end(document)
})()`

async function rewind(work: Work): Promise<void> {
  const { tab, signal } = work
  const until = performance.now() + SEEK_MILLISECONDS
  await tab.evaluate(REWIND, signal)
  // The page learns of the seek by events, which need time to run.
  do await passTime(work, INTERVAL_MILLISECONDS)
  while (performance.now() < until && (await tab.evaluate<boolean>(IS_SEEKING, signal)))
}

const REWIND = `(() => {
  for (const media of document.querySelectorAll('video, audio')) {
    media.autoplay = false
    media.pause()
    if (media.currentTime > 0) media.currentTime = 0
  }
})()`
const IS_SEEKING = `[...document.querySelectorAll('video')].some((video) => video.seeking)`
