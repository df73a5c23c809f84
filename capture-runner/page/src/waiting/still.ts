import type { PageFunctions } from '../../../src/page/functions.ts'

/** Infinite animations show the state before their beginning. */
export const endAnimations: PageFunctions['endAnimations'] = () => {
  const end = (root: Document | ShadowRoot) => {
    for (const animation of root.getAnimations()) {
      try {
        if (animation.effect?.getComputedTiming().endTime === Number.POSITIVE_INFINITY) animation.cancel()
        else animation.finish()
      } catch {}
    }
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) end(element.shadowRoot)
  }
  end(document)
}

export const rewindMedia: PageFunctions['rewindMedia'] = () => {
  for (const media of document.querySelectorAll<HTMLMediaElement>('video, audio')) {
    media.autoplay = false
    media.pause()
    if (media.currentTime > 0) media.currentTime = 0
  }
}

export const isSeeking: PageFunctions['isSeeking'] = () => [...document.querySelectorAll('video')].some((video) => video.seeking)
