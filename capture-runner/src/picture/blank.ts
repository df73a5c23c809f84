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
/** Size of the sample. A line of text still changes the color of its pixel. */
const SAMPLE = { width: 64, height: 36 } as const

/** True if a file is too large for a one-color image. */
export function isTooLargeToBeBlank(fileBytes: number, pixels: number, format: BrowserFormat): boolean {
  const { bytes, pixelsPerByte } = ONE_COLOR[format]
  return fileBytes > MARGIN * (bytes + pixels / pixelsPerByte)
}

/** True if the image has only one color. */
export async function isBlank(picture: Buffer): Promise<boolean> {
  const shrunk = sharp(picture, { limitInputPixels: false }).resize({ ...SAMPLE, fit: 'fill' })
  const { data, info } = await shrunk.raw().toBuffer({ resolveWithObject: true })
  return data.every((value, index) => Math.abs(value - (data[index % info.channels] ?? 0)) <= 1)
}
