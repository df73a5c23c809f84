import { z } from 'zod'
import { option, pictureOption } from '../rules/option-rules.ts'

export const ImageFit = z.enum(['cover', 'contain', 'fill', 'inside', 'outside'])
export type ImageFit = z.infer<typeof ImageFit>

export const ImagePosition = z.enum(['top', 'center', 'bottom', 'left', 'right', 'entropy', 'attention'])
export type ImagePosition = z.infer<typeof ImagePosition>

export const ThumbnailFormat = z.enum(['jpeg', 'png', 'webp'])
export type ThumbnailFormat = z.infer<typeof ThumbnailFormat>

const pixels = (least: number, most: number, what: string) => z.int().min(least).max(most).describe(what)

/** The pattern means the same to Go and JavaScript. */
const COLOR =
  /^(#[0-9A-Fa-f]{3,4}|#[0-9A-Fa-f]{6}|#[0-9A-Fa-f]{8}|rgba?\( ?[0-9]{1,3} ?, ?[0-9]{1,3} ?, ?[0-9]{1,3} ?(, ?(1|0|0?\.[0-9]{1,3}) ?)?\)|transparent|aqua|black|blue|fuchsia|gray|green|lime|maroon|navy|olive|orange|purple|red|silver|teal|white|yellow)$/
const color = (what: string) => z.string().max(64).regex(COLOR).describe(what)

/** Processing of the picture after it is taken. */
export const imageProcessingOptions = {
  imageWidth: pictureOption(pixels(1, 10000, 'Width to resize the picture to in pixels, 1 to 10000. Default: none.')),
  imageHeight: pictureOption(pixels(1, 50000, 'Height to resize the picture to in pixels, 1 to 50000. Default: none.')),
  imageFit: pictureOption(
    ImageFit.describe(
      'How to fit the picture into both image_width and image_height: cover cuts, contain pads, fill distorts, inside stays within both, outside covers both. Default: inside.',
    ),
  ),
  imagePosition: pictureOption(
    ImagePosition.describe(
      'Part of the picture to keep if image_fit cuts: top, bottom, left, right, center, or the most detailed part by entropy or attention. Default: top.',
    ),
  ),
  imageUpscale: pictureOption(
    z.boolean().describe('Allows image_width and image_height to enlarge the picture, up to the limits of its format. Default: false.'),
  ),
  imageBackground: pictureOption(
    color(
      'Color that fills padding and, in a jpeg, transparent areas: a hex value, rgb(), rgba() or one of the 17 names of CSS 2. Default: #ffffff.',
    ),
  ),
  backgroundColor: pictureOption(
    color('Background color for pages that set none: a hex value, rgb(), rgba() or one of the 17 names of CSS 2. Default: none.'),
  ),
  imageTrim: pictureOption(z.boolean().describe('Removes borders of one color. Default: false.')),
  imageTrimThreshold: pictureOption(
    z.int().min(0).max(255).describe('Maximum color difference within a border for image_trim, 0 to 255. Default: 10.'),
  ),
  imagePadding: pictureOption(pixels(0, 500, 'Pixels of image_background around the picture, 0 to 500. Default: 0.')),
  imageLossless: pictureOption(z.boolean().describe('Encodes a webp or avif without loss. A png is always lossless. Default: false.')),
  imageProgressive: pictureOption(z.boolean().describe('Encodes a progressive jpeg or an interlaced png. Default: false.')),
  imagePaletteColors: pictureOption(
    z
      .int()
      .min(0)
      .max(256)
      .refine((colors) => colors !== 1, { message: 'image_palette_colors must be 0 or 2 to 256' })
      .meta({ not: { enum: [1] } })
      .describe(
        'Number of colors in the palette of a png, 2 to 256; 0 disables the palette. A palette makes the file much smaller. Default: 0.',
      ),
  ),
  imageMaxBytes: pictureOption(
    z
      .int()
      .min(10240)
      .max(52428800)
      .describe(
        'Maximum size of the file in bytes, 10240 to 52428800. Quality, then dimensions, are reduced until the file fits. Default: none.',
      ),
  ),
  imageGrayscale: pictureOption(z.boolean().describe('Converts the picture to grayscale. Default: false.')),
  optimizeForSpeed: pictureOption(
    z.boolean().describe('Encodes a png faster; if false, encoding takes longer and the file is smaller. Default: true.'),
  ),
  thumbnailWidth: option(
    { links: 'yes', picture: 'separate' },
    pixels(16, 2000, 'Width of a thumbnail in pixels, 16 to 2000. Default: none.'),
  ),
  thumbnailHeight: option(
    { links: 'yes', picture: 'separate' },
    pixels(
      16,
      2000,
      'Height of a thumbnail in pixels, 16 to 2000. Together with thumbnail_width, the thumbnail shows the top part of the picture. Default: none.',
    ),
  ),
  thumbnailFormat: option(
    { links: 'yes', picture: 'separate' },
    ThumbnailFormat.describe('Format of the thumbnail: jpeg, png or webp. Default: the format of the picture, or webp for avif.'),
  ),
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
