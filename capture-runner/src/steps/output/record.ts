import { toCall } from '../../page/call.ts'
import { scrollShare, type VideoPlan } from '../../plan/video.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { awaitResponse, bounded } from '../../runtime/race.ts'
import { createEncoder } from '../../video/encoder.ts'
import { SMALLER } from '../../video/ffmpeg.ts'
import { scrollPage, scrollThrough } from '../../video/page-scroll.ts'
import { type Recorded, type Recording, recordExactly, recordReally } from '../../video/recorder.ts'
import { checkMainFrame } from '../navigation/navigate.ts'
import type { Step, Work } from '../step.ts'
import { includeClosedRoots } from '../whole-page.ts'
import { paintCanvas } from './canvas.ts'

/** Quality of the JPEGs between browser and encoder. A higher one costs more time than it is worth, unless the client wants the best. */
const JPEG_QUALITY = 90
const BEST_JPEG_QUALITY = 97
const BEST_QUALITY = 90
/** Share of repeated frames above which the client gets a warning. */
const REPEATED_SHARE = 0.05

/** Mutes the sound of the page. Video elements with sound would otherwise follow the real clock. */
export const muteMedia: Step = {
  name: 'muteMedia',
  isWanted: ({ video }) => video?.timing === 'exact',
  run: ({ tab, signal }) => awaitResponse(tab.addInitScript(toCall('muteMedia')), signal),
}

/** Records the video. */
export const record: Step = {
  name: 'record',
  isWanted: (plan) => plan.video !== undefined,
  run: async (work) => {
    const { tab, plan, findings, recorder } = work
    const { video, captureMilliseconds } = plan
    if (!video || !recorder) throw new Error('capture checks that the runner can record')
    checkMainFrame(tab)
    if (plan.picture.canvas) await paintCanvas(work, plan.picture.canvas)
    let begun = 0
    const late = () =>
      new CaptureError('TIMEOUT', `${begun} of ${video.frames} frames were recorded within ${captureMilliseconds} ms. ${SMALLER}`)
    using time = bounded(work.signal, captureMilliseconds, late)
    const timed = { ...work, signal: time.signal }
    const scrollTo = await prepareScroll(timed, video)
    const before = tab.lifecycle.requests
    const recording: Recording = {
      frames: video.frames,
      fps: video.fps,
      jpegQuality: video.quality >= BEST_QUALITY ? BEST_JPEG_QUALITY : JPEG_QUALITY,
      beforeFrame: async (milliseconds) => {
        begun++
        await scrollTo?.(milliseconds)
        await work.masks?.renew()
      },
    }
    const encoder = createEncoder(video, video.frames, recorder)
    try {
      const recorded = await (video.timing === 'exact' ? recordExactly : recordReally)(tab, recording, encoder, time.signal)
      const { path: file, bytes } = await encoder.finish(time.signal)
      findings.video = { file, bytes, ...video.size, frames: video.frames, fps: video.fps }
      findings.picture = recorded.first
      if (video.poster) findings.files.set('poster', recorded.first)
      findings.warnings.push(...inexactParts(work, video, recorded, tab.lifecycle.requests > before))
    } finally {
      encoder.dispose()
    }
  },
}

/** Scrolls through the page once. Returns what scrolls to the position of a time; undefined if the page does not scroll. */
async function prepareScroll(work: Work, { scroll }: VideoPlan): Promise<((milliseconds: number) => Promise<void>) | undefined> {
  if (!scroll) return undefined
  const { tab, findings, signal } = work
  await includeClosedRoots(work)
  const end = await scrollThrough(tab, signal)
  if (end <= 0) {
    findings.warnings.push('the page does not scroll, because the window shows all of it')
    return undefined
  }
  return (milliseconds) => scrollPage(tab, end * scrollShare(scroll, milliseconds), signal)
}

/** What the page's time does not decide. */
function inexactParts({ tab: { lifecycle } }: Work, video: VideoPlan, recorded: Recorded, hasRequests: boolean): string[] {
  if (video.timing === 'real') {
    const isMuch = recorded.repeated > video.frames * REPEATED_SHARE
    return isMuch ? [`${recorded.repeated} of ${video.frames} frames repeat the one before, because the browser was late`] : []
  }
  return [
    ...(recorded.hadSound ? ['sound: the page played a video with sound, whose pictures may be a few frames late'] : []),
    ...(hasRequests || lifecycle.isStreaming
      ? ['network: the page exchanged data while it was recorded; responses take real time, so they may come early or late']
      : []),
    ...(lifecycle.lastWorker === undefined ? [] : ['workers: the page uses workers, whose timers run in real time']),
  ]
}
