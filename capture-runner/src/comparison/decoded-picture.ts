import { open } from 'node:fs/promises'
import { ImageFormat, pictureLimits } from '@tintype/crds/options/output/formats'
import sharp from '../picture/library.ts'

// Pictures are decoded to a file, because two decoded full pages of 25,000 rows would take 400 MB. The library streams into its own format: a header
// of 64 bytes, and then all rows.

const HEADER_BYTES = 64
/** Red, green, blue and alpha. */
export const CHANNELS = 4

/** A decoded picture on disk. */
export interface DecodedPicture {
  width: number
  height: number
  /** False if every pixel is opaque. */
  mayBeTransparent: boolean
  /** Reads rows from `top`, RGBA, the left `width` pixels of each, into `target` if it is given. Returns the part of it that has the rows. */
  readRows: (top: number, count: number, width: number, target?: Buffer) => Promise<Buffer>
}

/** Time limit of a decoder. A picture of the largest size takes 10 seconds on a slow node. */
const DECODE_SECONDS = 60
const MEGA = 1_000_000

/** A checked picture that is not decoded yet. `source`: the encoded picture, or the path of its file. */
export interface EncodedPicture {
  source: Buffer | string
  width: number
  height: number
  mayBeTransparent: boolean
  /** Whether the library decodes it row by row. Otherwise it needs memory for the whole picture. */
  isRowByRow: boolean
  /** Whether it may have been compressed with loss. */
  isLossy: boolean
  maxPixels: number
  format: ImageFormat
}

/**
 * Reads the header of a picture.
 * @throws Error if it is no picture that a capture could have written, because its decoder might need too much memory
 */
export async function inspect(source: Buffer | string): Promise<EncodedPicture> {
  const { format, compression, width, height, depth, hasAlpha, isProgressive } = await sharp(source, { limitInputPixels: false }).metadata()
  const known = ImageFormat.safeParse(compression === 'av1' ? 'avif' : format)
  if (!known.success || depth !== 'uchar') throw new Error(`a picture in ${format} with ${depth} channels is not one that a capture writes`)
  const limits = pictureLimits(known.data, isProgressive)
  if (width * height > limits.pixels || Math.max(width, height) > limits.side) {
    throw new Error(
      `a picture of ${width} × ${height} pixels exceeds ${limits.pixels / MEGA} megapixels or ${limits.side} pixels on a side`,
    )
  }
  const isRowByRow = !isProgressive && (known.data === 'png' || known.data === 'jpeg')
  return {
    source,
    width,
    height,
    mayBeTransparent: hasAlpha,
    isRowByRow,
    isLossy: known.data !== 'png',
    maxPixels: limits.pixels,
    format: known.data,
  }
}

/**
 * Decodes a picture.
 * @param file path of the new file; it must end with `.v`
 */
export async function decodeTo(file: string, { source, maxPixels, mayBeTransparent }: EncodedPicture): Promise<DecodedPicture> {
  const picture = sharp(source, { limitInputPixels: maxPixels, sequentialRead: true }).timeout({ seconds: DECODE_SECONDS })
  const { width, height, channels } = await picture.toColourspace('srgb').ensureAlpha().toFile(file)
  if (channels !== CHANNELS) throw new Error(`a decoded picture has ${channels} channels`)
  return {
    width,
    height,
    mayBeTransparent,
    readRows: (top, count, wanted, target) => readRows(file, { top, count, wanted, width }, target),
  }
}

interface Rows {
  top: number
  count: number
  wanted: number
  width: number
}

/** Not from the shared pool, because pixelmatch reads 32 bits at a time from aligned memory. */
export const allocateRows = (count: number, width: number): Buffer => Buffer.allocUnsafeSlow(count * width * CHANNELS)

/** The same memory as one number for each pixel, with red in the lowest byte. */
export const toPixels = (rows: Buffer): Uint32Array => new Uint32Array(rows.buffer, rows.byteOffset, rows.length / CHANNELS)

async function readRows(file: string, { top, count, wanted, width }: Rows, target = allocateRows(count, wanted)): Promise<Buffer> {
  const [rowBytes, wantedBytes] = [width * CHANNELS, wanted * CHANNELS]
  const result = target.subarray(0, count * wantedBytes)
  const rows = wanted === width ? result : allocateRows(count, width)
  await using handle = await open(file)
  const { bytesRead } = await handle.read(rows, 0, rows.length, HEADER_BYTES + top * rowBytes)
  if (bytesRead !== rows.length) throw new Error(`a decoded picture ends after ${bytesRead} of ${rows.length} bytes`)
  if (rows !== result)
    for (let row = 0; row < count; row++) rows.copy(result, row * wantedBytes, row * rowBytes, row * rowBytes + wantedBytes)
  return result
}
