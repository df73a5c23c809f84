import { z } from 'zod'

export const ImageFit = z.enum(['cover', 'contain', 'fill', 'inside', 'outside'])
export type ImageFit = z.infer<typeof ImageFit>

export const ImagePosition = z.enum(['top', 'center', 'bottom', 'left', 'right', 'entropy', 'attention'])
export type ImagePosition = z.infer<typeof ImagePosition>

export const ThumbnailFormat = z.enum(['jpeg', 'png', 'webp'])
export type ThumbnailFormat = z.infer<typeof ThumbnailFormat>

const pixels = (least: number, most: number, what: string) => z.int().min(least).max(most).describe(what)

/** Spelled so that Go reads it as JavaScript does. */
const COLOR =
  /^(#[0-9A-Fa-f]{3,4}|#[0-9A-Fa-f]{6}|#[0-9A-Fa-f]{8}|rgba?\( ?[0-9]{1,3} ?, ?[0-9]{1,3} ?, ?[0-9]{1,3} ?(, ?(1|0|0?\.[0-9]{1,3}) ?)?\)|transparent|aqua|black|blue|fuchsia|gray|green|lime|maroon|navy|olive|orange|purple|red|silver|teal|white|yellow)$/
const color = (what: string) => z.string().max(64).regex(COLOR).describe(what)

/** What is done to the picture after it was taken. */
export const imageProcessingOptions = {
  imageWidth: pixels(1, 10000, 'Width that the picture is resized to, in pixels, 1 to 10000. Default: none.'),
  imageHeight: pixels(1, 50000, 'Height that the picture is resized to, in pixels, 1 to 50000. Default: none.'),
  imageFit: ImageFit.describe(
    'How image_width and image_height are met together: cover cuts, contain pads, fill distorts, inside stays within both, outside covers both. Default: inside.',
  ),
  imagePosition: ImagePosition.describe(
    'Part of the picture that is kept when image_fit cuts: an edge, the center, or what catches the eye by entropy or attention. Default: top.',
  ),
  imageUpscale: z.boolean().describe('Lets image_width and image_height enlarge the picture. Default: false.'),
  imageBackground: color(
    'Color that padding, contain and the transparency of a jpeg are filled with: a hex value, rgb(), rgba() or one of the 17 names of CSS 2. Default: #ffffff.',
  ),
  backgroundColor: color(
    'Color of the canvas under pages that set none: a hex value, rgb(), rgba() or one of the 17 names of CSS 2. Default: none.',
  ),
  imageTrim: z.boolean().describe('Cuts away borders of one color. Default: false.'),
  imageTrimThreshold: z
    .int()
    .min(0)
    .max(255)
    .describe('Difference of color that image_trim still takes for border, 0 to 255. Default: 10.'),
  imagePadding: pixels(0, 500, 'Pixels of image_background around the picture, 0 to 500. Default: 0.'),
  imageLossless: z.boolean().describe('Encodes a webp or avif without loss; png always is. Default: false.'),
  imageProgressive: z.boolean().describe('Encodes a jpeg progressively, a png interlaced. Default: false.'),
  imagePaletteColors: z
    .int()
    .min(0)
    .max(256)
    .refine((colors) => colors !== 1, { message: 'image_palette_colors must be 0 or 2 to 256' })
    .meta({ not: { enum: [1] } })
    .describe('Colors of a png’s palette, 2 to 256, which makes the file much smaller; 0 keeps all. Default: 0.'),
  imageMaxBytes: z
    .int()
    .min(10240)
    .max(52428800)
    .describe('Bytes that the file may have, 10240 to 52428800: quality, then size, go down until it fits. Default: none.'),
  imageGrayscale: z.boolean().describe('Takes the colors out. Default: false.'),
  optimizeForSpeed: z.boolean().describe('Encodes a png fast; without it the file is smaller and takes longer. Default: true.'),
  thumbnailWidth: pixels(16, 2000, 'Width of a small copy that is stored beside the picture, in pixels, 16 to 2000. Default: none.'),
  thumbnailHeight: pixels(
    16,
    2000,
    'Height of the small copy, in pixels, 16 to 2000; with thumbnail_width its top part is kept. Default: none.',
  ),
  thumbnailFormat: ThumbnailFormat.describe('Format of the small copy: jpeg, png or webp. Default: that of the picture, for avif webp.'),
}

export const imageProcessingDefaults = {
  imageFit: 'inside',
  imagePosition: 'top',
  imageUpscale: false,
  imageBackground: '#ffffff',
  imageTrim: false,
  imageTrimThreshold: 10,
  imagePadding: 0,
  imageLossless: false,
  imageProgressive: false,
  imagePaletteColors: 0,
  imageGrayscale: false,
  optimizeForSpeed: true,
} as const
