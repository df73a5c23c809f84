/** Levels of 255 by which a pixel may be outside of the colors around it. */
const LEVELS = 24

/** Pixels of a strip, and which of them changed. */
interface OffsetStrip {
  before: Uint32Array
  after: Uint32Array
  mask: Uint32Array
  width: number
}

/**
 * Removes changed pixels that another browser explains: text that moves by a pixel, and edges that are smoothed differently. The color of such a pixel
 * lies between the colors around it in the other picture, in both directions.
 */
export function forgiveOffsets({ before, after, mask, width }: OffsetStrip): void {
  for (let at = 0; at < mask.length; at++) {
    if (mask[at] !== 0 && isBetween(before[at]!, after, at, width) && isBetween(after[at]!, before, at, width)) mask[at] = 0
  }
}

/** Whether each channel of a color lies between those of the pixels around it. */
function isBetween(color: number, pixels: Uint32Array, at: number, width: number): boolean {
  const column = at % width
  const left = column > 0 ? -1 : 0
  const right = column < width - 1 ? 1 : 0
  for (let shift = 0; shift < 32; shift += 8) {
    const value = (color >>> shift) & 0xff
    let [low, high] = [255, 0]
    for (let row = at - width; row <= at + width; row += width) {
      if (row < 0 || row >= pixels.length) continue
      for (let near = row + left; near <= row + right; near++) {
        const other = (pixels[near]! >>> shift) & 0xff
        if (other < low) low = other
        if (other > high) high = other
      }
    }
    if (value < low - LEVELS || value > high + LEVELS) return false
  }
  return true
}
