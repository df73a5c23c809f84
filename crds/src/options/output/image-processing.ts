import { z } from 'zod'
import { choice, declare, type Facts, formed, group, integer, off, on, PICTURE } from '../rules/declare.ts'

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
