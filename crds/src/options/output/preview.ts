import { z } from 'zod'
import { choice, defaultsOf, group, integer, SEPARATE } from '../rules/declare.ts'

/** Formats of a preview. A png of a photograph would not fit into the limit of bytes. */
export const PreviewFormat = z.enum(['webp', 'jpeg'])
export type PreviewFormat = z.infer<typeof PreviewFormat>

/** Maximum slices of a preview. */
export const MAX_PREVIEW_SLICES = 12

const NOTE =
  'A preview is a small copy of the picture for language models and other programs that limit the size of a picture. ' +
  'It shows a page no smaller than 0.7 of its CSS size, so that texts stay legible. A taller page is cut into slices that overlap by 80 CSS pixels. ' +
  'The record lists the place of each slice in the file. The default limits cover 26,000 CSS pixels of height.'

/** A small copy of the picture in one file. */
export const previewGroup = group(['Preview', NOTE], SEPARATE, {
  preview: choice(['fit', 'slices'], { example: 'slices' })(
    'Stores a small copy beside the picture: fit is one picture, of a taller page the first slice; slices has up to preview_max_slices, one behind the other in one file.',
  ),
  previewFormat: choice(PreviewFormat.options, { default: 'webp', isLater: true })('Format of each slice: webp or jpeg.'),
  previewMaxSide: integer(896, 2000, { default: 1568, isLater: true })('Maximum width and height of each slice in pixels.'),
  previewMaxBytes: integer(65536, 1048576, { default: 262144, isLater: true })(
    'Maximum bytes of each slice. Quality is reduced until the slice fits, then its height.',
  ),
  previewMaxSlices: integer(1, MAX_PREVIEW_SLICES, { default: MAX_PREVIEW_SLICES, example: 4, isLater: true })(
    'Maximum number of slices, for preview slices.',
  ),
})

export const previewDefaults = defaultsOf(previewGroup.options)
