import sharp from 'sharp'

/** How two pictures of one page compare. */
export interface Comparison {
  isSameSize: boolean
  /** Pixels of which any channel differs. */
  differentPixels: number
}

const decode = (file: Buffer) => sharp(file).ensureAlpha().raw().toBuffer({ resolveWithObject: true })

/** Decodes both and compares them pixel by pixel. */
export async function compare(a: Buffer, b: Buffer): Promise<Comparison> {
  const [first, second] = await Promise.all([decode(a), decode(b)])
  const isSameSize = first.info.width === second.info.width && first.info.height === second.info.height
  if (!isSameSize) return { isSameSize, differentPixels: Number.NaN }
  const left = new Uint32Array(first.data.buffer, first.data.byteOffset, first.data.length / 4)
  const right = new Uint32Array(second.data.buffer, second.data.byteOffset, second.data.length / 4)
  return { isSameSize, differentPixels: left.reduce((count, pixel, place) => count + (pixel === right[place] ? 0 : 1), 0) }
}
