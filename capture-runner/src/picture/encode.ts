import type { Sharp } from 'sharp'
import { CaptureError } from '../runtime/errors.ts'

// Encoding outside of the browser, for pictures that it cannot take in one piece. Rows stream through wherever the format allows it.

/** What Chromium encodes itself. */
export type BrowserFormat = 'png' | 'jpeg' | 'webp'

/** An encoded picture; `quality` differs from what was wished when the format could not do it. */
export interface Encoded {
  picture: Buffer
  quality: number | undefined
}

/** Fast, and a tenth larger than the library's default. */
const PNG_LEVEL = 3

/** @param open makes the picture anew for each try @param quality 0 to 100; absent for png */
export async function encode(open: () => Sharp, format: BrowserFormat, quality = 90): Promise<Encoded> {
  switch (format) {
    case 'png':
      return { picture: await open().png({ compressionLevel: PNG_LEVEL, adaptiveFiltering: false }).toBuffer(), quality: undefined }
    case 'jpeg':
      // Better codes would need the whole picture in memory: 600 MB for 94 megapixels, against 160.
      return {
        picture: await open()
          .jpeg({ quality: toLegal(quality), optimiseCoding: false })
          .toBuffer(),
        quality,
      }
    case 'webp':
      return encodeWebp(open, quality)
  }
}

/** A quality that the library takes: 0 is legal for Chromium and for clients only. */
export const toLegal = (quality: number): number => Math.max(1, quality)

/** Parts of the wished quality, and the effort that each is tried with: a picture of much detail overflows a table of the format's at the first. */
const WEBP_TRIES = [
  { share: 1, effort: 0 },
  { share: 1, effort: 2 },
  { share: 0.75, effort: 0 },
  { share: 0.5, effort: 0 },
  { share: 0.25, effort: 0 },
]

/** Encodes a webp at the wished quality, or at the best that the format can do. */
export async function encodeWebp(open: () => Sharp, wished: number): Promise<Encoded> {
  let cause: unknown
  for (const { share, effort } of WEBP_TRIES) {
    const quality = Math.round(wished * share)
    try {
      return {
        picture: await open()
          .webp({ quality: toLegal(quality), effort })
          .toBuffer(),
        quality,
      }
    } catch (error) {
      cause = error
    }
  }
  throw new CaptureError('TOO_LARGE', 'the page shows more detail than a webp of this size can hold: use jpeg or png', { cause })
}
