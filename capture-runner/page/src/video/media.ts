import type { PageFunctions } from '../../../src/page/functions.ts'

/** The sound of a video would run on the real clock, and its pictures follow the sound. */
export const muteMedia: PageFunctions['muteMedia'] = () => {
  const mute = ({ target }: Event) => {
    if (target instanceof HTMLMediaElement) target.muted = true
  }
  addEventListener('play', mute, true)
}

/** Searches the main frame and the frames of its process. */
export const hasPlayingSound: PageFunctions['hasPlayingSound'] = () => {
  const has = (root: Document): boolean =>
    [...root.querySelectorAll<HTMLVideoElement | HTMLIFrameElement>('video, iframe')].some((element) =>
      element instanceof HTMLVideoElement || element.localName === 'video' ? isAudible(element as HTMLVideoElement) : hasInner(element),
    )
  const hasInner = (frame: HTMLIFrameElement): boolean => frame.contentDocument !== null && has(frame.contentDocument)
  return has(document)
}

const isAudible = (video: HTMLVideoElement): boolean =>
  !video.paused && ((video as { webkitAudioDecodedByteCount?: number }).webkitAudioDecodedByteCount ?? 0) > 0

export const countLoadingImages: PageFunctions['countLoadingImages'] = () =>
  [...document.images].filter((image) => !image.complete && image.loading !== 'lazy').length
