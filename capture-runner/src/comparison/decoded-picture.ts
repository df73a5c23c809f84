import { open } from 'node:fs/promises'
import sharp from 'sharp'

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

/** Formats that the library decodes row by row. Its decoders of webp and avif need memory for the whole picture. */
const ROW_BY_ROW: readonly string[] = ['png', 'jpeg']

/** A picture to decode: an encoded picture or the path of its file, and the path of the new file, which must end with `.v`. */
export interface Decoding {
  source: Buffer | string
  file: string
}

/** Decodes two pictures: at the same time, unless that needs memory for both as a whole. */
export async function decodeBoth(before: Decoding, after: Decoding): Promise<[before: DecodedPicture, after: DecodedPicture]> {
  const formats = await Promise.all([before, after].map(({ source }) => formatOf(source)))
  const decodeAfter = () => decodeTo(after.file, after.source)
  if (formats.every((format) => ROW_BY_ROW.includes(format))) return Promise.all([decodeTo(before.file, before.source), decodeAfter()])
  return [await decodeTo(before.file, before.source), await decodeAfter()]
}

const formatOf = async (source: Buffer | string): Promise<string> => (await sharp(source, { limitInputPixels: false }).metadata()).format

/**
 * Decodes a picture.
 * @param source an encoded picture, or the path of its file
 * @param file path of the new file; it must end with `.v`
 */
export async function decodeTo(file: string, source: Buffer | string): Promise<DecodedPicture> {
  const picture = sharp(source, { limitInputPixels: false, sequentialRead: true })
  const { hasAlpha } = await picture.metadata()
  const { width, height, channels } = await picture.toColourspace('srgb').ensureAlpha().toFile(file)
  if (channels !== CHANNELS) throw new Error(`a decoded picture has ${channels} channels`)
  return {
    width,
    height,
    mayBeTransparent: hasAlpha,
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
