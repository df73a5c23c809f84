import type { FlatStrip, RowRange } from './flat-areas.ts'

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
