import sharp from 'sharp'
import type { BrowserFormat } from './encode.ts'

// Now and then a browser hands out a picture before it has painted. Decoding each picture to find out would cost 90 ms; the size of the file
// tells most of them apart for nothing.

/** Bytes of a one-color picture: so many at least, and one for so many pixels. Measured from 300 × 200 to 3840 × 2160. */
const ONE_COLOR: Readonly<Record<BrowserFormat, { bytes: number; pixelsPerByte: number }>> = {
  png: { bytes: 700, pixelsPerByte: 47 },
  jpeg: { bytes: 700, pixelsPerByte: 160 },
  webp: { bytes: 550, pixelsPerByte: 480 },
}
const MARGIN = 1.5
/** What the picture is shrunk to; a line of text still tints the pixel that it falls into. */
const SAMPLE = { width: 64, height: 36 } as const

/** True when a file is too large for a picture of one color. */
export function isTooLargeToBeBlank(fileBytes: number, pixels: number, format: BrowserFormat): boolean {
  const { bytes, pixelsPerByte } = ONE_COLOR[format]
  return fileBytes > MARGIN * (bytes + pixels / pixelsPerByte)
}

/** True for a picture that shows one color and nothing else. */
export async function isBlank(picture: Buffer): Promise<boolean> {
  const shrunk = sharp(picture, { limitInputPixels: false }).resize({ ...SAMPLE, fit: 'fill' })
  const { data, info } = await shrunk.raw().toBuffer({ resolveWithObject: true })
  return data.every((value, index) => Math.abs(value - (data[index % info.channels] ?? 0)) <= 1)
}
