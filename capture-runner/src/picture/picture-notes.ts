import sharp from './library.ts'

// Describes an image in a few bytes.

/** Number of colors, and side of the sample in pixels. */
const MAX_COLORS = 6
const SIDE = 64
/** Number of bits per channel that distinguish colors. */
const KEPT_BITS = 4

/** Hash and colors of an image. */
export interface PictureNotes {
  /** 64 bits in hex. Similar images differ in few bits. */
  perceptualHash: string
  /** `#rrggbb`, most frequent first. */
  palette: string[]
}

/** Computes hash and colors of an image. */
export async function describePicture(picture: Buffer): Promise<PictureNotes> {
  const open = () => sharp(picture, { limitInputPixels: false }).flatten({ background: '#ffffff' })
  const [gray, small] = await Promise.all([
    open().grayscale().resize(9, 8, { fit: 'fill' }).raw().toBuffer(),
    open().toColorspace('srgb').resize(SIDE, SIDE, { fit: 'fill', kernel: 'nearest' }).raw().toBuffer(),
  ])
  return { perceptualHash: toDifferenceHash(gray), palette: toPalette(small) }
}

/** Difference hash: whether each pixel is brighter than the next one in its row. @param gray 9 × 8 pixels, at least one byte each */
export function toDifferenceHash(gray: Buffer): string {
  const channels = gray.length / 72
  let bits = 0n
  for (let y = 0; y < 8; y++) {
    for (let x = 0; x < 8; x++) {
      const at = (column: number) => gray[(y * 9 + column) * channels] ?? 0
      bits = (bits << 1n) | (at(x) > at(x + 1) ? 1n : 0n)
    }
  }
  return bits.toString(16).padStart(16, '0')
}

/** The most frequent colors, with similar ones merged. @param pixels red, green, blue of each */
export function toPalette(pixels: Buffer): string[] {
  const boxes = new Map<number, { count: number; sum: [number, number, number] }>()
  for (let i = 0; i + 2 < pixels.length; i += 3) {
    const [r = 0, g = 0, b = 0] = pixels.subarray(i, i + 3)
    const shift = 8 - KEPT_BITS
    const key = ((r >> shift) << (2 * KEPT_BITS)) | ((g >> shift) << KEPT_BITS) | (b >> shift)
    const box = boxes.get(key) ?? { count: 0, sum: [0, 0, 0] }
    box.count++
    box.sum = [box.sum[0] + r, box.sum[1] + g, box.sum[2] + b]
    boxes.set(key, box)
  }
  const largest = [...boxes.values()].sort((a, b) => b.count - a.count).slice(0, MAX_COLORS)
  return largest.map(
    ({ count, sum }) =>
      `#${sum
        .map((channel) =>
          Math.round(channel / count)
            .toString(16)
            .padStart(2, '0'),
        )
        .join('')}`,
  )
}
