import { z } from 'zod'
import { choice, group, integer, off, PICTURE } from '../rules/declare.ts'

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
