import type { Sharp } from 'sharp'
import type { BrowserFormat } from './encode.ts'
import sharp from './library.ts'

// Sometimes a browser takes a screenshot before it has painted. Decoding every image to check this would take 90 ms. The file size identifies
// most images that are not blank at no cost.

/** Upper bound of the size of a one-color image: a constant plus bytes per pixel. Measured from 300 × 200 to 3840 × 2160. */
const ONE_COLOR: Readonly<Record<BrowserFormat, { bytes: number; pixelsPerByte: number }>> = {
  png: { bytes: 700, pixelsPerByte: 47 },
  jpeg: { bytes: 700, pixelsPerByte: 160 },
  webp: { bytes: 550, pixelsPerByte: 480 },
}
const MARGIN = 1.5
/** Side of a block of pixels whose mean color is compared with that of the others. A small letter still changes it. */
const BLOCK = 30
/** Levels of 255 by which the pixels of one color may differ, and the means of blocks. A webp of one color of quality 40 has 10, and 3. */
const LEVELS = { lossless: { pixels: 1, blocks: 1 }, lossy: { pixels: 12, blocks: 3 } } as const

/** True if a file is too large for a one-color image. */
export function isTooLargeToBeBlank(fileBytes: number, pixels: number, format: BrowserFormat): boolean {
  const { bytes, pixelsPerByte } = ONE_COLOR[format]
  return fileBytes > MARGIN * (bytes + pixels / pixelsPerByte)
}

/** True if the image has only one color, but for some pixels. */
export async function isBlank(picture: Buffer): Promise<boolean> {
  const image = sharp(picture, { limitInputPixels: false })
  const { width, height, format } = await image.metadata()
  const levels = LEVELS[format === 'png' ? 'lossless' : 'lossy']
  const size = { width: Math.ceil(width / BLOCK), height: Math.ceil(height / BLOCK) }
  if ((await rangeOf(image.clone().resize({ ...size, fit: 'fill' }))) > levels.blocks) return false
  // Each block of a checkerboard or of stripes has the same mean color. Then the first rows have the pattern too.
  return (await rangeOf(image.clone().extract({ left: 0, top: 0, width, height: Math.min(height, BLOCK) }))) <= levels.pixels
}

/** The largest difference within a channel, in levels of 255. */
async function rangeOf(image: Sharp): Promise<number> {
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true })
  let range = 0
  for (let channel = 0; channel < info.channels; channel++) {
    let [min, max] = [255, 0]
    for (let at = channel; at < data.length; at += info.channels) {
      min = Math.min(min, data[at]!)
      max = Math.max(max, data[at]!)
    }
    range = Math.max(range, max - min)
  }
  return range
}
