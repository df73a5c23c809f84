import type { Sharp } from 'sharp'
import { CaptureError } from '../runtime/errors.ts'

// Encodes images that the browser cannot encode in one piece. Streams rows where the format allows it.

/** Formats that Chromium can encode. */
export type BrowserFormat = 'png' | 'jpeg' | 'webp'

/** An encoded image. `quality` differs from the requested one if the format could not achieve it. */
export interface Encoded {
  picture: Buffer
  quality: number | undefined
}

/** Fast, and only a tenth larger than the library's default. */
const PNG_LEVEL = 3

/** @param open creates the image anew for each attempt @param quality 0 to 100; absent for png */
export async function encode(open: () => Sharp, format: BrowserFormat, quality = 90): Promise<Encoded> {
  switch (format) {
    case 'png':
      return { picture: await open().png({ compressionLevel: PNG_LEVEL, adaptiveFiltering: false }).toBuffer(), quality: undefined }
    case 'jpeg':
      // Optimized coding would need the whole image in memory: 600 MB for 94 megapixels, instead of 160 MB.
      return {
        picture: await open()
          .jpeg({ quality: clampQuality(quality), optimiseCoding: false })
          .toBuffer(),
        quality,
      }
    case 'webp':
      return encodeWebp(open, quality)
  }
}

/** Clamps the quality for the library, which does not accept 0. Chromium and clients may use 0. */
export const clampQuality = (quality: number): number => Math.max(1, quality)

/** Shares of the requested quality, with the effort of each attempt. An image with much detail overflows a table of the WebP format at first. */
const WEBP_ATTEMPTS = [
  { share: 1, effort: 0 },
  { share: 1, effort: 2 },
  { share: 0.75, effort: 0 },
  { share: 0.5, effort: 0 },
  { share: 0.25, effort: 0 },
]

/** Encodes a WebP at the requested quality, or at the best possible one. */
export async function encodeWebp(open: () => Sharp, requested: number): Promise<Encoded> {
  let cause: unknown
  for (const { share, effort } of WEBP_ATTEMPTS) {
    const quality = Math.round(requested * share)
    try {
      return {
        picture: await open()
          .webp({ quality: clampQuality(quality), effort })
          .toBuffer(),
        quality,
      }
    } catch (error) {
      cause = error
    }
  }
  throw new CaptureError('TOO_LARGE', 'the page has too much detail for a webp of this size. Use jpeg or png.', { cause })
}
