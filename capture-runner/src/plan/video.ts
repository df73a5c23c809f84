import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import { isMoving, type MovingFormat, scrollPlanOf } from '@tintype/crds/options/output/formats'

interface Size {
  width: number
  height: number
}

/** The window of the page. */
interface Window {
  /** CSS pixels. */
  viewport: Size
  deviceScaleFactor: number
}

/** The video to record. */
export interface VideoPlan {
  format: MovingFormat
  frames: number
  fps: number
  /** 0 to 100. */
  quality: number
  timing: EffectiveOptions['videoTiming']
  /** Size of the window, in device pixels. */
  source: Size
  /** Size of the file, in pixels. */
  size: Size
  /** Absent: the video shows the page as it moves. */
  scroll?: ScrollTimes
  /** Stores the first frame. */
  poster: boolean
}

/** Players show a gif with shorter frames ten times as slowly. */
const MAX_GIF_FPS = 50

/** Builds the plan of a video; undefined for a screenshot. */
export function buildVideo(options: EffectiveOptions, window: Window): VideoPlan | undefined {
  const { format, videoDuration, videoQuality, videoTiming, videoPoster } = options
  if (!isMoving(format)) return undefined
  const fps = fpsOf(options)
  const source = sourceOf(window)
  return {
    format,
    fps,
    frames: videoDuration * fps,
    quality: videoQuality,
    timing: videoTiming,
    source,
    size: sizeOf(format, source, options.videoWidth),
    ...(options.videoScenario === 'scroll' ? { scroll: { ...scrollPlanOf(options), easing: options.videoScrollEasing } } : {}),
    poster: videoPoster,
  }
}

/** Warnings about a video that are known before it is recorded. */
export const videoWarnings = (options: EffectiveOptions): string[] =>
  isMoving(options.format) && fpsOf(options) < options.videoFps
    ? [`video_fps is ${MAX_GIF_FPS}, because players show a faster gif slowly`]
    : []

const fpsOf = ({ format, videoFps }: EffectiveOptions): number => (format === 'gif' ? Math.min(MAX_GIF_FPS, videoFps) : videoFps)

const sourceOf = ({ viewport: { width, height }, deviceScaleFactor: scale }: Window): Size => ({
  width: Math.round(width * scale),
  height: Math.round(height * scale),
})

/** Codecs of movies need even numbers. */
function sizeOf(format: MovingFormat, source: Size, width = source.width): Size {
  const round = format === 'gif' ? Math.round : toEven
  const height = width === source.width ? source.height : (source.height * width) / source.width
  return { width: Math.max(2, round(width)), height: Math.max(2, round(height)) }
}

/** The next even number; a fraction counts as a whole pixel only from one half on. */
const toEven = (pixels: number): number => 2 * Math.ceil(Math.round(pixels) / 2)

/** The options of a video, without those that make a page stand still for a picture or change one. */
export const withoutStillOptions = (options: EffectiveOptions): EffectiveOptions =>
  isMoving(options.format) ? { ...options, stabilityTimeout: 0, blankPageAction: 'accept' } : options

// The scroll position of each moment of a video. Pure functions.

/** Speed of a scroll over its time. */
type Easing = 'linear' | 'ease_in' | 'ease_out' | 'ease_in_out'

/** A video that scrolls shows the top, one scroll, the end, and with `back` a second scroll. Then it rests. Times are in milliseconds. */
export interface ScrollTimes {
  /** Before the scroll starts, and at its end. */
  pause: number
  /** One scroll. */
  scroll: number
  easing: Easing
  /** Scrolls back to the top after the pause at the end. */
  back: boolean
}

const CURVES: Readonly<Record<Easing, (share: number) => number>> = {
  linear: (share) => share,
  ease_in: (share) => share ** 3,
  ease_out: (share) => 1 - (1 - share) ** 3,
  ease_in_out: (share) => (share < 0.5 ? 4 * share ** 3 : 1 - (2 - 2 * share) ** 3 / 2),
}

/** How far the page is scrolled at a time, from 0 (top) to 1 (end). @param milliseconds since the first frame */
export function scrollShare({ pause, scroll, easing, back }: ScrollTimes, milliseconds: number): number {
  const at = (begin: number): number => CURVES[easing](Math.min(1, Math.max(0, (milliseconds - begin) / scroll)))
  return back ? at(pause) - at(2 * pause + scroll) : at(pause)
}
