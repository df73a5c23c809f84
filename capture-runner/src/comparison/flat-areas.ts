import pixelmatch from 'pixelmatch'
import { allocateRows } from './decoded-picture.ts'

// Decides the pixels of flat areas, which most pixels of a page are, without the detection of antialiasing: a pixel with three neighbors of its own
// color is not antialiased. The result is that of pixelmatch, in a tenth of the time.

const CACHE_BITS = 12
const HASH = 0x9e3779b1

/** Pixels of both pictures, and what is known about them. */
export interface FlatStrip {
  before: Uint32Array
  after: Uint32Array
  width: number
  /** Receives 1 for each changed pixel of a flat area. */
  mask: Uint32Array
  /** One byte for each pixel: not to be compared. Receives 1 for each pixel of a flat area. */
  isDecided: Uint8Array
}

/** Decides whether two colors differ. Remembers the last ones. */
export class ColorPairs {
  readonly #tolerance: number
  readonly #befores = new Uint32Array(1 << CACHE_BITS)
  readonly #afters = new Uint32Array(1 << CACHE_BITS)
  readonly #isChanged = new Uint8Array(1 << CACHE_BITS)
  readonly #pixels: readonly [Buffer, Buffer] = [allocateRows(1, 1), allocateRows(1, 1)]

  constructor(tolerance: number) {
    this.#tolerance = tolerance
  }

  /** Whether pixelmatch finds that two different colors differ by more than the tolerance. */
  isChanged(before: number, after: number): boolean {
    const slot = Math.imul(before ^ Math.imul(after, HASH), HASH) >>> (32 - CACHE_BITS)
    if (this.#befores[slot] !== before || this.#afters[slot] !== after) {
      const [one, other] = this.#pixels
      one.writeUInt32LE(before)
      other.writeUInt32LE(after)
      const options = { threshold: this.#tolerance, includeAA: true, checkerboard: false }
      this.#isChanged[slot] = pixelmatch(one, other, undefined, 1, 1, options)
      this.#befores[slot] = before
      this.#afters[slot] = after
    }
    return this.#isChanged[slot] === 1
  }
}

/** Rows, without the last, and how many of their pixels are different and undecided. */
export interface RowRange {
  first: number
  end: number
  pixels: number
}

/**
 * Decides the pixels of flat areas. Returns the rows with different pixels that are still undecided.
 * @param gap most rows without such pixels within a range
 */
export function decideFlatAreas(strip: FlatStrip, pairs: ColorPairs, gap: number): RowRange[] {
  const { before, after, width } = strip
  const ranges: RowRange[] = []
  for (let start = 0, row = 0; start < before.length; start += width, row++) {
    let undecided = 0
    const rowEnd = start + width
    for (let at = start; at < rowEnd; ) {
      const one = before[at]!
      const other = after[at]!
      let end = at + 1
      while (end < rowEnd && before[end] === one && after[end] === other) end++
      if (one !== other) undecided += decideRun(strip, pairs, at, end)
      at = end
    }
    if (undecided === 0) continue
    const last = ranges.at(-1)
    if (last && row - last.end <= gap) {
      last.end = row + 1
      last.pixels += undecided
    } else ranges.push({ first: row, end: row + 1, pixels: undecided })
  }
  return ranges
}

/** Decides the pixels of a row that have the same two colors. Returns how many are not in a flat area. */
function decideRun({ before, after, width, mask, isDecided }: FlatStrip, pairs: ColorPairs, start: number, end: number): number {
  const one = before[start]!
  const other = after[start]!
  // Pixels without neighbors to the left and above are left to pixelmatch.
  let undecided = isDecided[start] === 0 ? 1 : 0
  if (start < width) {
    for (let at = start + 1; at < end; at++) if (isDecided[at] === 0) undecided++
    return undecided
  }
  let wasLike = before[start - width] === one && after[start - width] === other
  let mark = -1
  for (let at = start + 1; at < end; at++) {
    const isLike = before[at - width] === one && after[at - width] === other
    if (isDecided[at] === 0) {
      if (isLike && wasLike) {
        if (mark < 0) mark = pairs.isChanged(one, other) ? 1 : 0
        isDecided[at] = 1
        mask[at] = mark
      } else undecided++
    }
    wasLike = isLike
  }
  return undecided
}
