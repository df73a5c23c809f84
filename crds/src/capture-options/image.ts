import { z } from 'zod'

export const ImageFormat = z.enum(['png', 'jpeg', 'webp'])
export type ImageFormat = z.infer<typeof ImageFormat>

/** MIME type of each format, for the upload and for downloads. */
export const CONTENT_TYPES: Readonly<Record<ImageFormat, string>> = { png: 'image/png', jpeg: 'image/jpeg', webp: 'image/webp' }

/** The picture's file (spec 2.2). */
export const imageOptions = {
  format: ImageFormat.describe('File format of the picture: png, jpeg or webp. Default: png.'),
  imageQuality: z
    .int()
    .min(0)
    .max(100)
    .describe('Quality of a jpeg or webp, 0 to 100; higher looks better and weighs more. No effect on png. Default: 90.'),
  omitBackground: z.boolean().describe('Leaves the page background transparent; png only. Default: false.'),
}

export const imageDefaults = { format: 'png', imageQuality: 90, omitBackground: false } as const
