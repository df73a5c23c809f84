import type { PageFunctions } from '../../../src/page/functions.ts'
import { findMatches } from '../shared/tree.ts'

/** The sound of a video would run on the real clock, and its pictures follow the sound. */
export const muteMedia: PageFunctions['muteMedia'] = () => {
  const mute = ({ target }: Event) => {
    if (target instanceof HTMLMediaElement) target.muted = true
  }
  addEventListener('play', mute, true)
}

export const hasPlayingSound: PageFunctions['hasPlayingSound'] = () => (findMatches('video') as HTMLVideoElement[]).some(isAudible)

const isAudible = (video: HTMLVideoElement): boolean =>
  !video.paused && ((video as { webkitAudioDecodedByteCount?: number }).webkitAudioDecodedByteCount ?? 0) > 0
