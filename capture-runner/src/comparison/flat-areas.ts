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

/** Equal neighbors from which pixelmatch takes a pixel for the area beside a smooth edge. */
const MIN_EQUAL = 3

const UNKNOWN = 0
const NO = 1
const YES = 2

/**
 * Finds the changed pixels that may be smooth edges, without the brightness of their neighbors. To pixelmatch, a pixel is antialiased only if one of
 * its neighbors has three equal neighbors in both pictures. In noise and photographs hardly any has.
 */
export class SmoothEdges {
  /** For each pixel: whether it has three equal neighbors in both pictures. */
  readonly #isArea: Uint8Array
  readonly #mayBeSmooth: Uint8Array

  constructor(pixels: number) {
    this.#isArea = new Uint8Array(pixels)
    this.#mayBeSmooth = new Uint8Array(pixels)
  }

  /** Returns how many changed pixels of the rows may be smooth edges. */
  find(strip: FlatStrip, { first, end }: RowRange): number {
    const { width, mask, isDecided } = strip
    this.#isArea.fill(UNKNOWN)
    let found = 0
    for (let row = first * width; row < end * width; row += width) {
      const isEdge = row === 0 || row === mask.length - width
      for (let at = row; at < row + width; at++) {
        const isChanged = mask[at] !== 0 && isDecided[at] === 0
        const mayBeSmooth = isChanged && (isEdge || at === row || at === row + width - 1 || this.#isNearArea(strip, at))
        this.#mayBeSmooth[at] = mayBeSmooth ? 1 : 0
        if (mayBeSmooth) found++
      }
    }
    return found
  }

  /** Leaves the pixels that were found undecided, and decides all others of the rows. */
  keep({ width, mask, isDecided }: FlatStrip, { first, end }: RowRange): void {
    for (let at = first * width; at < end * width; at++) {
      if (this.#mayBeSmooth[at] === 0) isDecided[at] = 1
      else mask[at] = 0
    }
  }

  #isNearArea(strip: FlatStrip, at: number): boolean {
    const { width } = strip
    for (let row = at - width; row <= at + width; row += width) {
      for (let near = row - 1; near <= row + 1; near++) {
        if (near === at) continue
        const known = this.#isArea[near]!
        if (known === YES || (known === UNKNOWN && this.#look(strip, near))) return true
      }
    }
    return false
  }

  #look(strip: FlatStrip, at: number): boolean {
    const { before, after, width } = strip
    const isArea = isAtBorder(strip, at) || (countEqual(before, at, width) >= MIN_EQUAL && countEqual(after, at, width) >= MIN_EQUAL)
    this.#isArea[at] = isArea ? YES : NO
    return isArea
  }
}

function isAtBorder({ before, width }: FlatStrip, at: number): boolean {
  const column = at % width
  return column === 0 || column === width - 1 || at < width || at >= before.length - width
}

/** Number of the eight neighbors that have the color of a pixel. */
function countEqual(pixels: Uint32Array, at: number, width: number): number {
  const color = pixels[at]
  return (
    Number(pixels[at - width - 1] === color) +
    Number(pixels[at - width] === color) +
    Number(pixels[at - width + 1] === color) +
    Number(pixels[at - 1] === color) +
    Number(pixels[at + 1] === color) +
    Number(pixels[at + width - 1] === color) +
    Number(pixels[at + width] === color) +
    Number(pixels[at + width + 1] === color)
  )
}
