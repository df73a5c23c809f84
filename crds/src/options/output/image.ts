import { z } from 'zod'
import { option } from '../rules/option-rules.ts'

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

/** Format and quality of the file. */
export const imageOptions = {
  format: option(
    { links: 'yes', picture: 'yes' },
    FileFormat.describe('Format of the file: png, jpeg, webp, avif or pdf, and for a video mp4, webm or gif. Default: png.'),
  ),
  imageQuality: option(
    { links: 'yes', picture: 'yes' },
    z
      .int()
      .min(0)
      .max(100)
      .describe(
        'Quality of a jpeg, webp or avif, 0 to 100. A higher value looks better and makes a larger file. No effect on other formats. Default: 90.',
      ),
  ),
  omitBackground: option(
    { links: 'yes', picture: 'yes' },
    z.boolean().describe('Makes the page background transparent; png only. Default: false.'),
  ),
}

export const imageDefaults = { format: 'png', imageQuality: 90, omitBackground: false } as const
