import { promisify } from 'node:util'
import { constants, crc32, deflateRaw, inflateRaw } from 'node:zlib'
import { findBlockEnd } from './deflate.ts'

// Stacks PNG images into one PNG without decoding them (ADR 36). Chromium's compressed data is kept, except for the beginning of each image: the filter
// of its first row refers to the row above, which is no longer all zeros.

const inflate = promisify(inflateRaw)
const deflate = promisify(deflateRaw)

/** The start of every PNG. */
export const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
const HEADER_BYTES = 13
/** Size of a chunk's length and type, and of its checksum. */
const CHUNK_HEAD = 8
const CHUNK_TAIL = 4
/** Header of a zlib stream: a window of 32 KiB, the fastest level. */
const ZLIB_HEAD = Buffer.from('7801', 'hex')
/** How Chromium's encoder ends a stream: an empty stored block, which aligns it to a byte, and an empty last block. */
const FLUSHED = Buffer.from('0000ffff', 'hex')
const LAST_BLOCK = Buffer.from('0300', 'hex')
const ADLER_BYTES = 4
const ADLER_BASE = 65_521
/** Maximum distance of a match. Data after it cannot refer to the first row's filter byte. */
const WINDOW = 32_768
/** Filters of a first row, and their equivalents that do not depend on the row above. The average filter has none. */
const FIRST_ROW_FILTERS: Readonly<Record<number, number>> = { 0: 0, 1: 1, 2: 0, 4: 1 }
const DEFLATE_LEVEL = 3
/** Samples per pixel by color type: gray, RGB, gray and alpha, RGB and alpha. */
const SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 4: 2, 6: 4 }

/** Properties of a PNG that has one IDAT for all rows. */
export interface Frame {
  width: number
  height: number
  /** Depth, color type, compression, filter and interlace, as in IHDR. */
  kind: Buffer
  /** Adler-32 of the rows with their filters. */
  adler: number
}

/** An image that can be placed below another one. */
export interface Section {
  frame: Frame
  /** The whole IDAT: deflate blocks without a last block, ending on a byte boundary. */
  rows: readonly Buffer[]
}

/** Parses a PNG. @returns undefined if it differs from those of Chromium's fast encoder */
export async function toSection(png: Buffer): Promise<Section | undefined> {
  const chunks = readChunks(png)
  const header = chunks?.[0]
  if (!chunks || header?.type !== 'IHDR' || header.data.length !== HEADER_BYTES) return undefined
  const [depth, colorType, , , interlace] = header.data.subarray(8)
  if (depth !== 8 || SAMPLES[colorType ?? -1] === undefined || interlace !== 0) return undefined
  const stream = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data))
  const end = stream.length - LAST_BLOCK.length - ADLER_BYTES
  if (end < ZLIB_HEAD.length + FLUSHED.length || !stream.subarray(0, ZLIB_HEAD.length).equals(ZLIB_HEAD)) return undefined
  if (!stream.subarray(end - FLUSHED.length, -ADLER_BYTES).equals(Buffer.concat([FLUSHED, LAST_BLOCK]))) return undefined
  const frame = {
    width: header.data.readUInt32BE(0),
    height: header.data.readUInt32BE(4),
    // A copy, because a view would keep the whole file in memory.
    kind: Buffer.from(header.data.subarray(8)),
    adler: stream.readUInt32BE(stream.length - ADLER_BYTES),
  }
  return withoutRowAbove(frame, stream.subarray(ZLIB_HEAD.length, end))
}

async function withoutRowAbove(frame: Frame, blocks: Buffer): Promise<Section | undefined> {
  const length = bytesOfRows(frame)
  const cut = findBlockEnd(blocks, Math.min(WINDOW, length))
  if (!cut) return undefined
  const flush = { finishFlush: constants.Z_SYNC_FLUSH }
  const beginning = await inflate(blocks.subarray(0, cut.offset), { ...flush, maxOutputLength: cut.length })
  const [filter = -1] = beginning
  const wanted = FIRST_ROW_FILTERS[filter]
  if (wanted === undefined || beginning.length !== cut.length) return undefined
  beginning[0] = wanted
  const rewritten = await deflate(beginning, { ...flush, level: DEFLATE_LEVEL })
  const adler = changeFirstByte(frame.adler, wanted - filter, length)
  return { frame: { ...frame, adler }, rows: toChunk('IDAT', rewritten, blocks.subarray(cut.offset)) }
}

/** Properties of the joined image; undefined if the images cannot be joined. */
export function joinFrames(frames: readonly Frame[]): Frame | undefined {
  const [first, ...rest] = frames
  if (!first || rest.some(({ width, kind }) => width !== first.width || !kind.equals(first.kind))) return undefined
  const { width, kind } = first
  let { height, adler } = first
  for (const below of rest) {
    height += below.height
    adler = concatAdlers(adler, below.adler, bytesOfRows(below))
  }
  return { width, height, kind, adler }
}

/** All bytes before the IDATs of the rows. */
export function beforeRows({ width, height, kind }: Frame): Buffer {
  const size = Buffer.alloc(8)
  size.writeUInt32BE(width, 0)
  size.writeUInt32BE(height, 4)
  return Buffer.concat([SIGNATURE, ...toChunk('IHDR', size, kind), ...toChunk('IDAT', ZLIB_HEAD)])
}

/** All bytes after the IDATs of the rows. */
export function afterRows({ adler }: Frame): Buffer {
  const checksum = Buffer.alloc(ADLER_BYTES)
  checksum.writeUInt32BE(adler)
  return Buffer.concat([...toChunk('IDAT', LAST_BLOCK, checksum), ...toChunk('IEND')])
}

const bytesOfRows = ({ width, height, kind }: Frame): number => height * (1 + width * (SAMPLES[kind[1] ?? -1] ?? 0))

interface Chunk {
  type: string
  data: Buffer
}

function readChunks(png: Buffer): Chunk[] | undefined {
  if (!png.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return undefined
  const chunks: Chunk[] = []
  for (let at = SIGNATURE.length; at < png.length; ) {
    if (at + CHUNK_HEAD > png.length) return undefined
    const end = at + CHUNK_HEAD + png.readUInt32BE(at)
    if (end + CHUNK_TAIL > png.length) return undefined
    chunks.push({ type: png.toString('latin1', at + 4, at + CHUNK_HEAD), data: png.subarray(at + CHUNK_HEAD, end) })
    at = end + CHUNK_TAIL
  }
  return chunks
}

/** A chunk of a PNG: its length, type, data and checksum. */
export function toChunk(type: string, ...data: readonly Buffer[]): Buffer[] {
  const head = Buffer.alloc(CHUNK_HEAD)
  head.writeUInt32BE(data.reduce((sum, { length }) => sum + length, 0))
  head.write(type, 4, 'latin1')
  const tail = Buffer.alloc(CHUNK_TAIL)
  tail.writeUInt32BE(data.reduce((sum, part) => crc32(part, sum), crc32(head.subarray(4))))
  return [head, ...data, tail]
}

/** Adler-32 after a change of the first byte (RFC 1950). */
function changeFirstByte(adler: number, by: number, length: number): number {
  const low = mod((adler & 0xff_ff) + by)
  const high = mod((adler >>> 16) + by * mod(length))
  return high * 0x1_00_00 + low
}

/** Adler-32 of two concatenated byte sequences, the second of `length`. */
function concatAdlers(first: number, second: number, length: number): number {
  const [a, b] = [first & 0xff_ff, second & 0xff_ff]
  const high = (first >>> 16) + (second >>> 16) + mod(length) * (a - 1)
  return mod(high) * 0x1_00_00 + mod(a + b - 1)
}

const mod = (value: number): number => ((value % ADLER_BASE) + ADLER_BASE) % ADLER_BASE
