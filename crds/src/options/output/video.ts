import { z } from 'zod'
import { option, pictureOption } from '../rules/option-rules.ts'
import { isMoving } from './image.ts'

export const VideoScenario = z.enum(['record', 'scroll'])
export type VideoScenario = z.infer<typeof VideoScenario>

export const ScrollEasing = z.enum(['linear', 'ease_in', 'ease_out', 'ease_in_out'])
export type ScrollEasing = z.infer<typeof ScrollEasing>

export const VideoTiming = z.enum(['exact', 'real'])
export type VideoTiming = z.infer<typeof VideoTiming>

/** Options of videos. They need a moving format. */
export const videoOptions = {
  videoDuration: pictureOption(
    z.int().min(1).max(120).describe('Length of the video in seconds, 1 to 120; a gif has at most 15. Default: 5.'),
  ),
  videoFps: pictureOption(z.int().min(5).max(60).describe('Frames in each second, 5 to 60. A video has at most 3600 frames. Default: 30.')),
  videoWidth: pictureOption(
    z
      .int()
      .min(64)
      .max(3840)
      .describe('Width of the video in pixels, 64 to 3840; the height follows. Default: the width of the viewport × device_scale_factor.'),
  ),
  videoQuality: pictureOption(
    z.int().min(0).max(100).describe('Quality of the video, 0 to 100. A higher value makes a larger file. Default: 70.'),
  ),
  videoScenario: pictureOption(
    VideoScenario.describe('What the video shows: record shows the page as it moves, scroll scrolls smoothly to its end. Default: record.'),
  ),
  videoScrollDuration: pictureOption(
    z
      .int()
      .min(100)
      .max(120_000)
      .describe(
        'Milliseconds of one scroll from the top to the end, 100 to 120000. Default: what video_duration leaves beside the pauses; with video_scroll_back, half of it.',
      ),
  ),
  videoScrollEasing: pictureOption(
    ScrollEasing.describe('Speed curve of the scroll: linear, ease_in, ease_out or ease_in_out. Default: ease_in_out.'),
  ),
  videoScrollBack: pictureOption(z.boolean().describe('Scrolls back to the top after the pause at the end. Default: false.')),
  videoScrollPause: pictureOption(
    z.int().min(0).max(10_000).describe('Milliseconds to rest before the scroll and at its end, 0 to 10000. Default: 500.'),
  ),
  videoPoster: option(
    { links: 'yes', picture: 'separate' },
    z.boolean().describe('Stores the first frame as a jpeg beside the video. Default: false.'),
  ),
  videoTiming: pictureOption(
    VideoTiming.describe(
      'Clock of the page: exact advances it frame by frame, so that a slow machine drops no frame; real records as it happens, for pages that play sound or talk to servers. Default: exact.',
    ),
  ),
}

export const videoDefaults = {
  videoDuration: 5,
  videoFps: 30,
  videoQuality: 70,
  videoScenario: 'record' as VideoScenario,
  videoScrollEasing: 'ease_in_out' as ScrollEasing,
  videoScrollBack: false,
  videoScrollPause: 500,
  videoPoster: false,
  videoTiming: 'exact' as VideoTiming,
}

/** Maximum frames of a video. */
export const MAX_VIDEO_FRAMES = 3_600
/** Maximum seconds of a gif. */
export const MAX_GIF_SECONDS = 15
/** Maximum device pixels of the viewport of a video: 3840 × 2160. */
export const MAX_VIDEO_PIXELS = 8_294_400
/** Minimum milliseconds of a scroll. */
export const MIN_SCROLL_MILLISECONDS = 100

/** The options that decide how long and how smooth a video is. */
export interface VideoLength {
  format?: string | undefined
  videoDuration?: number | undefined
  videoFps?: number | undefined
}

/** Frames of a video; 0 for other formats. */
export const framesOf = ({ format, videoDuration, videoFps }: VideoLength): number =>
  isMoving(format) ? (videoDuration ?? videoDefaults.videoDuration) * (videoFps ?? videoDefaults.videoFps) : 0

/** The options of a scroll. */
export interface ScrollOptions {
  videoDuration?: number | undefined
  videoScrollDuration?: number | undefined
  videoScrollBack?: boolean | undefined
  videoScrollPause?: number | undefined
}

/** The parts of a scroll, in milliseconds. The video shows the top, one scroll, the end, and with `back` a second scroll; then it rests. */
export interface ScrollPlan {
  pause: number
  scroll: number
  back: boolean
}

/** Plans a scroll. `scroll` is below {@link MIN_SCROLL_MILLISECONDS} if the pauses leave too little of the video. */
export function scrollPlanOf(options: ScrollOptions): ScrollPlan {
  const { videoDuration, videoScrollBack: back, videoScrollPause: pause } = { ...videoDefaults, ...definedOf(options) }
  const left = videoDuration * 1_000 - 2 * pause
  return { pause, scroll: options.videoScrollDuration ?? Math.floor(left / (back ? 2 : 1)), back }
}

/** True if the pauses and the scrolls end within the video. */
export function isScrollWithinVideo(options: ScrollOptions): boolean {
  const { pause, scroll, back } = scrollPlanOf(options)
  const total = (options.videoDuration ?? videoDefaults.videoDuration) * 1_000
  return scroll >= MIN_SCROLL_MILLISECONDS && 2 * pause + scroll * (back ? 2 : 1) <= total
}

const definedOf = (options: ScrollOptions) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as { [K in keyof ScrollOptions]?: never }
