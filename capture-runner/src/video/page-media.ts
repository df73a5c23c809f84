import type { Tab } from '../browser/tab.ts'

/** Runs in every frame before the page's scripts. The sound of a video would run on the real clock, and its pictures follow the sound. */
export const MUTE_MEDIA = `addEventListener('play', ({ target }) => { if (target instanceof HTMLMediaElement) target.muted = true }, true)`

/** Whether a video with a sound track is playing in the main frame or in frames of its process. */
export const hasPlayingSound = (tab: Pick<Tab, 'evaluate'>, signal: AbortSignal): Promise<boolean> =>
  tab.evaluate<boolean>(HAS_SOUND, signal)

const HAS_SOUND = `(() => {
  const has = (root) => [...root.querySelectorAll('video, iframe')].some((element) => {
    if (element.localName === 'video') return !element.paused && element.webkitAudioDecodedByteCount > 0
    try { return element.contentDocument !== null && has(element.contentDocument) } catch { return false }
  })
  return has(document)
})()`
