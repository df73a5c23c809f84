import type { PageFunctions } from '../../../src/page/functions.ts'
import { findMatches, findRoots } from '../shared/tree.ts'
import { endDrawings } from './svg-animations.ts'

/** A canceled animation would show the element without it, which may be invisible. So infinite ones rest at their first frame. */
export const endAnimations: PageFunctions['endAnimations'] = () => {
  for (const animation of findRoots().flatMap((root) => root.getAnimations())) {
    try {
      const { endTime, delay = 0 } = animation.effect?.getComputedTiming() ?? {}
      if (endTime === Number.POSITIVE_INFINITY) {
        animation.pause()
        animation.currentTime = Math.max(0, delay)
      } else animation.finish()
    } catch {}
  }
  endDrawings()
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
