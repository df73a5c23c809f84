import { captureDefaults, withDefaults } from './catalog.ts'
import type { Contradiction } from './contradiction.ts'
import { isMoving } from './output/image.ts'
import {
  framesOf,
  isScrollWithinVideo,
  MAX_GIF_SECONDS,
  MAX_VIDEO_FRAMES,
  MAX_VIDEO_PIXELS,
  MIN_SCROLL_MILLISECONDS,
  videoDefaults,
  videoGroup,
} from './output/video.ts'

// Options of videos that cannot be combined. Each CEL rule covers several options, because each rule makes every write slower.

type VideoOption = keyof typeof videoGroup.options
const VIDEO_OPTIONS = Object.keys(videoGroup.options) as [VideoOption, ...VideoOption[]]
const SCROLL_OPTIONS = VIDEO_OPTIONS.filter((name) => name.startsWith('videoScroll')) as [VideoOption, ...VideoOption[]]

const MOVING = 'has(self.format) && self.format in ["mp4", "webm", "gif"]'
const noneOf = (names: readonly string[]): string => names.map((name) => `!has(self.${name})`).join(' && ')
const givenOrDefault = (name: keyof typeof captureDefaults): string => `(has(self.${name}) ? self.${name} : ${captureDefaults[name]})`
const pixelsOf = (name: 'viewportWidth' | 'viewportHeight' | 'deviceScaleFactor'): string =>
  `(has(self.${name}) ? double(self.${name}) : ${captureDefaults[name]}.0)`

/** Options that show another part of the page, or change the picture. A video always shows the viewport. */
const STILL_OPTIONS = ['selector', 'clipX', 'imageWidth', 'imageHeight', 'imageMaxBytes', 'thumbnailWidth', 'thumbnailHeight'] as const

/** Each contradiction of videos. */
export const videoContradictions: readonly Contradiction[] = [
  {
    code: 'video_options_need_a_video',
    paths: [...VIDEO_OPTIONS, 'format'],
    message: 'options of videos need format mp4, webm or gif: set format, or leave them out',
    rule: `(${MOVING}) || (${noneOf(VIDEO_OPTIONS)})`,
    holds: (options) => !isMoving(options.format) && VIDEO_OPTIONS.some((name) => options[name] !== undefined),
  },
  {
    code: 'scroll_options_need_scroll',
    paths: [...SCROLL_OPTIONS, 'videoScenario'],
    message: 'options of the scroll need video_scenario scroll: set it, or leave them out',
    rule: `(has(self.videoScenario) && self.videoScenario == "scroll") || (${noneOf(SCROLL_OPTIONS)})`,
    holds: (options) => options.videoScenario !== 'scroll' && SCROLL_OPTIONS.some((name) => options[name] !== undefined),
  },
  {
    code: 'video_frames',
    paths: ['videoDuration', 'videoFps'],
    message: `video_duration × video_fps must be at most ${MAX_VIDEO_FRAMES} frames: lower one of them`,
    rule: `${givenOrDefault('videoDuration')} * ${givenOrDefault('videoFps')} <= ${MAX_VIDEO_FRAMES}`,
    holds: ({ videoDuration, videoFps }) => framesOf(withDefaults({ format: 'mp4', videoDuration, videoFps })) > MAX_VIDEO_FRAMES,
  },
  {
    code: 'gif_duration',
    paths: ['videoDuration', 'format'],
    message: `a gif has at most ${MAX_GIF_SECONDS} seconds: lower video_duration, or set format to mp4 or webm`,
    rule: `!has(self.videoDuration) || self.videoDuration <= ${MAX_GIF_SECONDS} || !has(self.format) || self.format != "gif"`,
    holds: ({ videoDuration = 0, format }) => format === 'gif' && videoDuration > MAX_GIF_SECONDS,
  },
  {
    code: 'scroll_within_video',
    paths: ['videoScrollDuration', 'videoScrollPause', 'videoDuration', 'videoScrollBack', 'videoScenario'],
    message:
      'the scroll does not fit into the video: raise video_duration, or lower video_scroll_duration, which counts twice with video_scroll_back, or video_scroll_pause, which counts twice',
    rule: [
      '!has(self.videoScenario) || self.videoScenario != "scroll" || 2 * ',
      `${givenOrDefault('videoScrollPause')} + (has(self.videoScrollDuration) ? self.videoScrollDuration : ${MIN_SCROLL_MILLISECONDS})`,
      ` * (has(self.videoScrollBack) && self.videoScrollBack ? 2 : 1) <= 1000 * ${givenOrDefault('videoDuration')}`,
    ].join(''),
    holds: (options) => options.videoScenario === 'scroll' && !isScrollWithinVideo(withDefaults(options)),
  },
  {
    code: 'video_shows_the_viewport',
    paths: ['fullPage', ...STILL_OPTIONS, 'format'],
    message:
      'a video shows the viewport: leave out full_page, selector, clip_x, image_width, image_height, image_max_bytes, thumbnail_width and thumbnail_height, or use an image format. video_width sets the width, and video_poster stores a picture',
    rule: `!(${MOVING}) || ((!has(self.fullPage) || !self.fullPage) && ${noneOf(STILL_OPTIONS)})`,
    holds: (options) =>
      isMoving(options.format) && (options.fullPage === true || STILL_OPTIONS.some((name) => options[name] !== undefined)),
  },
  {
    code: 'video_pixels',
    paths: ['deviceScaleFactor', 'viewportWidth', 'viewportHeight', 'format'],
    message: 'viewport width × height × scale² of a video must be at most 8,294,400 device pixels: use a smaller viewport or scale',
    rule: [
      `!(${MOVING}) || `,
      [...(['viewportWidth', 'viewportHeight', 'deviceScaleFactor', 'deviceScaleFactor'] as const).map(pixelsOf)].join(' * '),
      ` <= ${MAX_VIDEO_PIXELS}.0`,
    ].join(''),
    holds: ({ format, ...options }) => {
      // CEL does not know the devices. The gateway and the runner check the viewport that a device sets.
      const { viewportWidth, viewportHeight, deviceScaleFactor } = withDefaults({ ...options, device: undefined })
      return isMoving(format) && viewportWidth * viewportHeight * deviceScaleFactor ** 2 > MAX_VIDEO_PIXELS
    },
  },
  {
    code: 'capture_timeout_covers_video',
    paths: ['captureTimeout', 'videoDuration', 'videoTiming'],
    message:
      'capture_timeout must be at least video_duration if video_timing is real: raise capture_timeout or leave it out, or lower video_duration',
    rule: [
      '!has(self.captureTimeout) || !has(self.videoTiming) || self.videoTiming != "real" || ',
      `self.captureTimeout >= 1000 * ${givenOrDefault('videoDuration')}`,
    ].join(''),
    holds: ({ captureTimeout, videoTiming, videoDuration = videoDefaults.videoDuration }) =>
      captureTimeout !== undefined && videoTiming === 'real' && captureTimeout < 1_000 * videoDuration,
  },
]
