import type { PageFunctions } from '../../../src/page/functions.ts'
import { findMatches, findRoots } from '../shared/tree.ts'

/** Infinite animations show the state before their beginning. */
export const endAnimations: PageFunctions['endAnimations'] = () => {
  for (const animation of findRoots().flatMap((root) => root.getAnimations())) {
    try {
      if (animation.effect?.getComputedTiming().endTime === Number.POSITIVE_INFINITY) animation.cancel()
      else animation.finish()
    } catch {}
  }
  return findMatches('marquee').length > 0
}

export const rewindMedia: PageFunctions['rewindMedia'] = () => {
  for (const media of findMatches('video, audio') as HTMLMediaElement[]) {
    media.autoplay = false
    media.pause()
    if (media.currentTime > 0) media.currentTime = 0
  }
}

export const isSeeking: PageFunctions['isSeeking'] = () => (findMatches('video') as HTMLVideoElement[]).some((video) => video.seeking)
