import { choice, defaultsOf, flag, group, integer, off, PICTURE } from '../rules/declare.ts'
import { isMoving } from './image.ts'

/** Options of videos. They need a moving format. */
export const videoGroup = group('Video', PICTURE, {
  videoDuration: integer(1, 120, { default: 5 })('Length of the video in seconds; a gif has at most 15.'),
  videoFps: integer(5, 60, { default: 30 })('Frames in each second. A video has at most 3600 frames.'),
  videoWidth: integer(64, 3840, { absent: 'the width of the viewport × device_scale_factor' })(
    'Width of the video in pixels; the height follows.',
  ),
  videoQuality: integer(0, 100, { default: 70 })('Quality of the video. A higher value makes a larger file.'),
  videoScenario: choice(['record', 'scroll'], { default: 'record', example: 'scroll' })(
    'What the video shows: record shows the page as it moves, scroll scrolls smoothly to its end.',
  ),
  videoScrollDuration: integer(100, 120_000, {
    absent: 'what video_duration leaves beside the pauses; with video_scroll_back, half of it',
  })('Milliseconds of one scroll from the top to the end.'),
  videoScrollEasing: choice(['linear', 'ease_in', 'ease_out', 'ease_in_out'], { default: 'ease_in_out', example: 'linear' })(
    'Speed curve of the scroll: linear, ease_in, ease_out or ease_in_out.',
  ),
  videoScrollBack: off('Scrolls back to the top after the pause at the end.'),
  videoScrollPause: integer(0, 10_000, { default: 500 })('Milliseconds to rest before the scroll and at its end.'),
  videoPoster: flag({ default: false, picture: 'separate' })('Stores the first frame as a jpeg beside the video.'),
  videoTiming: choice(['exact', 'real'], { default: 'exact', example: 'real' })(
    'Clock of the page: exact advances it frame by frame, so that a slow machine drops no frame; real records as it happens, for pages that play sound or talk to servers.',
  ),
})

export const videoDefaults = defaultsOf(videoGroup.options)

/** Maximum frames of a video. */
export const MAX_VIDEO_FRAMES = 3_600
/** Maximum seconds of a gif. */
export const MAX_GIF_SECONDS = 15
/** Maximum device pixels of the viewport of a video: 3840 × 2160. */
export const MAX_VIDEO_PIXELS = 8_294_400
/** Minimum milliseconds of a scroll. */
export const MIN_SCROLL_MILLISECONDS = 100

/** The options of a video with their defaults. */
type VideoOptions = typeof videoDefaults & { videoScrollDuration?: number | undefined }

/** Frames of a video; 0 for other formats. */
export const framesOf = ({ format, videoDuration, videoFps }: VideoOptions & { format: string }): number =>
  isMoving(format) ? videoDuration * videoFps : 0

/** The parts of a scroll, in milliseconds. The video shows the top, one scroll, the end, and with `back` a second scroll; then it rests. */
export interface ScrollPlan {
  pause: number
  scroll: number
  back: boolean
}

/** Plans a scroll. `scroll` is below {@link MIN_SCROLL_MILLISECONDS} if the pauses leave too little of the video. */
export function scrollPlanOf({
  videoDuration,
  videoScrollDuration,
  videoScrollBack: back,
  videoScrollPause: pause,
}: VideoOptions): ScrollPlan {
  const left = videoDuration * 1_000 - 2 * pause
  return { pause, scroll: videoScrollDuration ?? Math.floor(left / (back ? 2 : 1)), back }
}

/** True if the pauses and the scrolls end within the video. */
export function isScrollWithinVideo(options: VideoOptions): boolean {
  const { pause, scroll, back } = scrollPlanOf(options)
  return scroll >= MIN_SCROLL_MILLISECONDS && 2 * pause + scroll * (back ? 2 : 1) <= options.videoDuration * 1_000
}
