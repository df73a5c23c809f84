import { constants, crc32, deflateRawSync } from 'node:zlib'

/** Encoding of an image as a PNG. */
export interface Making {
  width: number
  channels: 3 | 4
  /** PNG filter of every row. */
  filter: 0 | 1 | 2 | 3 | 4
}

/** Encodes a PNG like Chromium's fast encoder: one filter for all rows, a flush, and an empty last block. */
export function buildChromiumPng(pixels: Buffer, { width, channels, filter }: Making): Buffer {
  const bytes = width * channels
  const height = pixels.length / bytes
  const rows = Buffer.concat(
    Array.from({ length: height }, (_, y) => {
      const row = Buffer.alloc(1 + bytes, filter)
      for (let x = 0; x < bytes; x++) {
        const at = (dx: number, dy: number) => (x < dx || y < dy ? 0 : (pixels[(y - dy) * bytes + x - dx] ?? 0))
        row[1 + x] = at(0, 0) - predict(filter, at(channels, 0), at(0, 1), at(channels, 1))
      }
      return row
    }),
  )
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, channels === 3 ? 2 : 6, 0, 0, 0], 8)
  const adler = Buffer.alloc(4)
  adler.writeUInt32BE(adler32(rows))
  const blocks = deflateRawSync(rows, { level: 1, finishFlush: constants.Z_SYNC_FLUSH })
  const stream = Buffer.concat([Buffer.from('7801', 'hex'), blocks, Buffer.from('0300', 'hex'), adler])
  const parts = Array.from({ length: Math.ceil(stream.length / 4_096) }, (_, n) => stream.subarray(n * 4_096, (n + 1) * 4_096))
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([signature, chunk('IHDR', header), ...parts.map((part) => chunk('IDAT', part)), chunk('IEND', Buffer.of())])
}

function predict(filter: number, left: number, above: number, corner: number): number {
  if (filter === 3) return (left + above) >> 1
  if (filter < 4) return [0, left, above][filter] ?? 0
  const estimate = left + above - corner
  const [toLeft, toAbove, toCorner] = [left, above, corner].map((value) => Math.abs(estimate - value)) as [number, number, number]
  return toLeft <= toAbove && toLeft <= toCorner ? left : toAbove <= toCorner ? above : corner
}

function adler32(bytes: Buffer): number {
  let [low, high] = [1, 0]
  for (const byte of bytes) {
    low = (low + byte) % 65_521
    high = (high + low) % 65_521
  }
  return high * 0x1_00_00 + low
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}

/** Pixels with some structure and some noise; always the same for a seed. */
export function buildPixels(bytes: number, seed: number): Buffer {
  let state = seed
  const pixels = Buffer.alloc(bytes)
  for (let at = 0; at < bytes; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    pixels[at] = (at >> 6) + ((state >>> 24) & 15)
  }
  return pixels
}
