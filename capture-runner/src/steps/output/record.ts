import type { Tab } from '../../browser/tab.ts'
import { callInPage, toCall } from '../../page/call.ts'
import { scrollShare, type VideoPlan } from '../../plan/video.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { awaitResponse, bounded, pause } from '../../runtime/race.ts'
import { createEncoder } from '../../video/encoder.ts'
import { SMALLER } from '../../video/ffmpeg.ts'
import { type Recorded, type Recording, recordExactly, recordReally } from '../../video/recorder.ts'
import { checkMainFrame } from '../navigation/navigate.ts'
import type { Step, Work } from '../step.ts'
import { includeClosedRoots } from '../whole-page.ts'
import { paintCanvas } from './screenshot.ts'

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

// Scrolls the page while a video is recorded. What scrolls is the window, or else the largest element that scrolls.

/** Milliseconds at each position before the recording, in which the page reacts. */
const REST_MILLISECONDS = 60
/** The same at the top, where bars come back that were hidden during the scroll. */
const TOP_MILLISECONDS = 500
/** Share of the window between two positions. */
const STEP = 0.9
/** Time limits for the scroll before the recording, and for images that it made load. */
const MAX_MILLISECONDS = 10_000
const IMAGES_MILLISECONDS = 5_000

type ScrolledTab = Pick<Tab, 'evaluate' | 'lifecycle'>

/**
 * Scrolls through the page once, so that content loads that waits to come into view, and returns to the top.
 * @returns the largest scroll position of the recording, in CSS pixels. A page that grows without end is not scrolled further than here.
 * @throws the signal's reason
 */
async function scrollThrough(tab: ScrolledTab, signal: AbortSignal): Promise<number> {
  const until = performance.now() + MAX_MILLISECONDS
  const first = await callInPage({ tab, signal }, 'findScroller')
  if (first.end <= 0) return 0
  let { end, windowHeight } = first
  let top = 0
  while (top < end && performance.now() < until) {
    top = Math.min(end, top + Math.max(100, Math.floor(windowHeight * STEP)))
    await scrollPage(tab, top, signal)
    await pause(REST_MILLISECONDS, signal)
    // What has arrived may make the page taller.
    if (top === end) await awaitImages(tab, signal)
    ;({ end, windowHeight } = await callInPage({ tab, signal }, 'scrollScroller', top))
  }
  if (top < end) await awaitImages(tab, signal)
  await scrollPage(tab, 0, signal)
  await pause(TOP_MILLISECONDS, signal)
  return Math.min(end, Math.max(top, first.end))
}

/** Scrolls to a position in CSS pixels. It takes effect with the next frame. */
const scrollPage = async (tab: Pick<Tab, 'evaluate'>, top: number, signal: AbortSignal): Promise<void> => {
  await callInPage({ tab, signal }, 'scrollScroller', top)
}

async function awaitImages({ lifecycle }: ScrolledTab, signal: AbortSignal): Promise<void> {
  const until = performance.now() + IMAGES_MILLISECONDS
  while (performance.now() < until && lifecycle.pendingImages.length > 0) await pause(REST_MILLISECONDS, signal)
}
