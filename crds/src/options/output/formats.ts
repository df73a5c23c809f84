import { z } from 'zod'
import {
  choice,
  declare,
  defaultsOf,
  type Facts,
  filled,
  flag,
  formed,
  group,
  integer,
  number,
  off,
  on,
  PICTURE,
} from '../rules/declare.ts'

/** Formats of pictures. A pdf is a document. */
export const ImageFormat = z.enum(['png', 'jpeg', 'webp', 'avif'])
export type ImageFormat = z.infer<typeof ImageFormat>

/** Formats of a screenshot. */
export const StillFormat = z.enum([...ImageFormat.options, 'pdf'])
export type StillFormat = z.infer<typeof StillFormat>

/** Formats of a video. */
export const MovingFormat = z.enum(['mp4', 'webm', 'gif'])
export type MovingFormat = z.infer<typeof MovingFormat>

/** Formats of the file of a capture. */
export const FileFormat = z.enum([...StillFormat.options, ...MovingFormat.options])
export type FileFormat = z.infer<typeof FileFormat>

/** True for a format of videos. */
export const isMoving = (format: string | undefined): format is MovingFormat => MovingFormat.options.some((moving) => moving === format)

/** MIME type of each format, for the upload and for downloads. */
export const CONTENT_TYPES: Readonly<Record<FileFormat, string>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  avif: 'image/avif',
  pdf: 'application/pdf',
  mp4: 'video/mp4',
  webm: 'video/webm',
  gif: 'image/gif',
}

/** Maximum width and height of a picture in pixels. Beyond the limits of WebP and AVIF, their encoders fail. */
const MAX_SIDE: Readonly<Record<ImageFormat, number>> = { png: 1_000_000, jpeg: 65_535, webp: 16_383, avif: 16_384 }
/** Maximum number of pixels. WebP and AVIF need all of them in memory, about 10 and 25 bytes each, and AVIF is slow. */
const MAX_PIXELS: Readonly<Record<ImageFormat, number>> = { png: 200_000_000, jpeg: 200_000_000, webp: 64_000_000, avif: 16_000_000 }
/** Maximum number of pixels of a progressive jpeg, an interlaced png and a png with a palette, which need all of them in memory too. */
export const MAX_WHOLE_PIXELS = 64_000_000

/** Limits of a picture in pixels. */
export interface PictureLimits {
  side: number
  pixels: number
}

/** The largest picture that Tintype writes in a format. `isWhole`: the encoding needs the whole picture in memory. */
export const pictureLimits = (format: ImageFormat, isWhole: boolean): PictureLimits => ({
  side: MAX_SIDE[format],
  pixels: isWhole ? Math.min(MAX_PIXELS[format], MAX_WHOLE_PIXELS) : MAX_PIXELS[format],
})

/** Format and quality of the file. */
export const imageGroup = group('Format', PICTURE, {
  format: choice(FileFormat.options, { default: 'png' })(
    'Format of the file: png, jpeg, webp, avif or pdf, and for a video mp4, webm or gif.',
  ),
  imageQuality: integer(0, 100, { default: 90 })(
    'Quality of a jpeg, webp or avif. A higher value looks better and makes a larger file. No effect on other formats.',
  ),
  omitBackground: off('Makes the page background transparent; png only.'),
})

export const ThumbnailFormat = z.enum(['jpeg', 'png', 'webp'])
export type ThumbnailFormat = z.infer<typeof ThumbnailFormat>

/** The pattern means the same to Go and JavaScript. */
const COLOR =
  /^(#[0-9A-Fa-f]{3,4}|#[0-9A-Fa-f]{6}|#[0-9A-Fa-f]{8}|rgba?\( ?[0-9]{1,3} ?, ?[0-9]{1,3} ?, ?[0-9]{1,3} ?(, ?(1|0|0?\.[0-9]{1,3}) ?)?\)|transparent|aqua|black|blue|fuchsia|gray|green|lime|maroon|navy|olive|orange|purple|red|silver|teal|white|yellow)$/
const color = <Own extends Facts<string>>(own: Own) => formed(64, COLOR, own)

const PALETTE_COLORS = z
  .int()
  .min(0)
  .max(256)
  .refine((colors) => colors !== 1, { message: 'image_palette_colors must be 0 or 2 to 256' })
  .meta({ not: { enum: [1] } })

/** Processing of the picture after it is taken. */
export const imageProcessingGroup = group('Image processing', PICTURE, {
  imageWidth: integer(1, 10000)('Width to resize the picture to in pixels.'),
  imageHeight: integer(1, 50000)('Height to resize the picture to in pixels.'),
  imageFit: choice(['cover', 'contain', 'fill', 'inside', 'outside'], { default: 'inside' })(
    'How to fit the picture into both image_width and image_height: cover cuts, contain pads, fill distorts, inside stays within both, outside covers both.',
  ),
  imagePosition: choice(['top', 'center', 'bottom', 'left', 'right', 'entropy', 'attention'], { default: 'top' })(
    'Part of the picture to keep if image_fit cuts: top, bottom, left, right, center, or the most detailed part by entropy or attention.',
  ),
  imageUpscale: off('Allows image_width and image_height to enlarge the picture, up to the limits of its format.'),
  imageBackground: color({ default: '#ffffff', example: '#336699' })(
    'Color that fills padding and, in a jpeg, transparent areas: a hex value, rgb(), rgba() or one of the 17 names of CSS 2.',
  ),
  backgroundColor: color({ example: '#fffbe6' })(
    'Background color for pages that set none: a hex value, rgb(), rgba() or one of the 17 names of CSS 2.',
  ),
  imageTrim: off('Removes borders of one color.'),
  imageTrimThreshold: integer(0, 255, { default: 10 })('Maximum color difference within a border for image_trim.'),
  imagePadding: integer(0, 500, { default: 0 })('Pixels of image_background around the picture.'),
  imageLossless: off('Encodes a webp or avif without loss. A png is always lossless.'),
  imageProgressive: off('Encodes a progressive jpeg or an interlaced png.'),
  imagePaletteColors: declare(PALETTE_COLORS, { default: 0 })(
    'Number of colors in the palette of a png, 2 to 256; 0 disables the palette. A palette makes the file much smaller.',
  ),
  imageMaxBytes: integer(10240, 52428800)('Maximum size of the file in bytes. Quality, then dimensions, are reduced until the file fits.'),
  imageGrayscale: off('Converts the picture to grayscale.'),
  optimizeForSpeed: on('Encodes a png faster; if false, encoding takes longer and the file is smaller.'),
  thumbnailWidth: integer(16, 2000, { picture: 'separate' })('Width of a thumbnail in pixels.'),
  thumbnailHeight: integer(16, 2000, { picture: 'separate' })(
    'Height of a thumbnail in pixels. Together with thumbnail_width, the thumbnail shows the top part of the picture.',
  ),
  thumbnailFormat: choice(ThumbnailFormat.options, { absent: 'the format of the picture, or webp for avif', picture: 'separate' })(
    'Format of the thumbnail: jpeg, png or webp.',
  ),
})

const PAPER_FORMATS = ['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'letter', 'legal', 'tabloid', 'ledger'] as const

const TEMPLATE_LENGTH = 16384

/** A CSS length; pixels if it has no unit. */
const length = (own: Facts<string>) =>
  formed(16, /^[0-9]{1,5}(\.[0-9]{1,4})?(px|in|cm|mm|pt|pc)?$/, { ...own, form: 'must be a length, such as 10mm, 1in or 20px' })
const margin = length({ absent: 'that of the page’s own @page rule, else 0', example: '12mm' })
const template = (example: string) => filled(TEMPLATE_LENGTH, { links: 'own_markup', isLarge: true, example })

/** True for page ranges that are not empty, such as `1-3,5`. */
export const isPageRanges = (text: string): boolean =>
  text.split(',').every((range) => {
    const [from = 0, to = from] = range.split('-').map(Number)
    return from >= 1 && from <= to
  })

/** Options for format pdf. */
export const pdfGroup = group('PDF', PICTURE, {
  pdfPaperFormat: choice(PAPER_FORMATS, { default: 'a4' })('Paper format of a pdf: a0 to a6, letter, legal, tabloid or ledger.'),
  pdfWidth: length({ example: '210mm' })('Width of the sheet with a unit, such as 210mm, 8.5in or 800px. Overrides pdf_paper_format.'),
  pdfHeight: length({ example: '99mm' })('Height of the sheet with a unit, such as 297mm or 11in. Overrides pdf_paper_format.'),
  pdfLandscape: off('Prints in landscape orientation.'),
  pdfPrintBackground: on('Prints backgrounds.'),
  pdfScale: number(0.1, 2, { default: 1 })('Scale of the content.'),
  pdfMarginTop: margin('Margin at the top, such as 10mm.'),
  pdfMarginRight: margin('Margin on the right.'),
  pdfMarginBottom: margin('Margin at the bottom.'),
  pdfMarginLeft: margin('Margin on the left.'),
  pdfPageRanges: formed(128, /^[0-9]{1,4}(-[0-9]{1,4})?(, ?[0-9]{1,4}(-[0-9]{1,4})?){0,15}$/, { absent: 'all', example: '1-3,5' })(
    'Pages to include, such as 1-3,5. The capture fails if no page matches.',
  ),
  pdfFitOnePage: off(
    'Prints all content on one sheet that is as tall as the content. The width is pdf_width or that of pdf_paper_format. Page breaks, and @page rules of the page, have no effect.',
  ),
  pdfPreferCssPageSize: off('Prefers the page’s own CSS @page size.'),
  pdfHeaderTemplate: template('<span class="title" style="font-size: 9px"></span>')(
    'HTML to print at the top of each sheet within pdf_margin_top. The browser fills in spans with class date, title, url, pageNumber or totalPages. Images can use data: URLs only.',
  ),
  pdfFooterTemplate: template('<span class="pageNumber" style="font-size: 9px"></span>')(
    'HTML to print at the bottom of each sheet, with the rules of pdf_header_template.',
  ),
  pdfTagged: off('Tags the content for screen readers.'),
  pdfOutline: off('Creates bookmarks from the headings, and tags the content too.'),
})

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
interface ScrollPlan {
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
