import { crc32, deflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
const RGB = 2

/** A PNG of one color, `color` as six hexadecimal digits. */
export function buildPng(width: number, height: number, color: string): Buffer {
  const pixel = Buffer.from(color, 'hex')
  const row = Buffer.concat([Buffer.of(0), ...Array.from({ length: width }, () => pixel)])
  return wrapPng({ width, height, depth: 8, type: RGB }, deflateSync(Buffer.concat(Array.from({ length: height }, () => row))))
}

/** A PNG of compressed rows. */
export function wrapPng(size: { width: number; height: number; depth: number; type: number }, rows: Buffer): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size.width, 0)
  header.writeUInt32BE(size.height, 4)
  header.set([size.depth, size.type, 0, 0, 0], 8)
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}
