import type { PictureBox } from '@tintype/crds/kinds/comparison'
import pixelmatch from 'pixelmatch'
import type { SlightLevels, StripPixels, StripRows } from './add-changes.ts'
import { allocateRows, CHANNELS, toPixels } from './decoded-picture.ts'
import { ColorPairs, decideFlatAreas, type FlatStrip, type RowRange, SmoothEdges } from './flat-areas.ts'
import { fillIgnoreMask } from './ignore-mask.ts'

/** How to compare. */
export interface ComparisonSettings {
  /** Color difference up to which pixels count as equal, 0 to 1. */
  colorTolerance: number
  /** Whether antialiased pixels count. */
  antialiasing: boolean
  /** Areas that are not compared, in pixels of the picture. */
  ignored: readonly PictureBox[]
  /** From when the color of an area differs, although each pixel is within the tolerance; absent: areas are not compared. */
  slightLevels?: SlightLevels | undefined
  /** Whether pixels count that moved by one pixel, or that are smoothed differently; absent: they do. */
  forgivesOffsets?: boolean | undefined
}

/** Steps to compare a pixel in search of smooth edges, and only by its color. A step takes about 100 nanoseconds. */
const SMOOTH_STEPS = 3
const COLOR_STEPS = 2
/** Steps to explain a pixel by another engine. */
const OFFSET_STEPS = 2
/** Share of the pixels of rows from which they are like noise or a photograph, in which few pixels can be smooth edges. */
const ROUGH_SHARE = 0.25
/** Share of the steps that must be left to compare such rows in one pass. */
const ROUGH_FROM = 0.75
/** Rows around a pixel that pixelmatch reads to detect antialiasing: the neighbors of neighbors. */
const REACH = 2

interface Bands {
  width: number
  /** Most rows of a band, with those around it. */
  rows: number
  isOpaque: boolean
  /** Beyond it, smooth edges and the offsets of another engine count, and in noise the levels of the channels decide. */
  maxSteps: number
}

/** Finds the changed pixels of bands of rows. The result is that of pixelmatch, up to a limit. Its memory is used again for each band. */
export class ChangeFinder {
  readonly settings: ComparisonSettings
  /** Whether the limit was reached. */
  isLimited = false
  readonly #pairs: ColorPairs
  readonly #smooth: SmoothEdges
  /** One byte for each pixel that is not compared, or is decided. */
  readonly #ignored: Uint8Array
  readonly #mask: Buffer
  /** Both pictures on black; absent: they are opaque. */
  readonly #blended: readonly [Buffer, Buffer] | undefined
  #stepsLeft: number
  /** Below it, rough rows are compared in two passes, which takes longer for a gradient, but much shorter for noise. */
  readonly #roughFrom: number

  constructor(settings: ComparisonSettings, { width, rows, isOpaque, maxSteps }: Bands) {
    this.settings = settings
    this.#pairs = new ColorPairs(settings.colorTolerance)
    this.#smooth = new SmoothEdges(width * rows)
    this.#ignored = new Uint8Array(width * rows)
    this.#mask = allocateRows(rows, width)
    this.#blended = isOpaque ? undefined : [allocateRows(rows, width), allocateRows(rows, width)]
    this.#stepsLeft = maxSteps
    this.#roughFrom = ROUGH_FROM * maxSteps
  }

  /** Finds the changed pixels of the rows from `top` to `bottom`. The result is valid until the next call. */
  find([before, after]: [Buffer, Buffer], rows: StripRows): StripPixels {
    const ignored = this.#ignored.subarray(0, before.length / CHANNELS)
    const mask = toPixels(this.#mask.subarray(0, before.length)).fill(0)
    this.#fillIgnored(ignored, rows)
    let pixels = { before: toPixels(before), after: toPixels(after), mask, ignored }
    this.#match(pixels, rows.width)
    const [blendedBefore, blendedAfter] = (this.#blended ?? []).map((buffer) => toPixels(buffer.subarray(0, before.length)))
    if (blendedBefore && blendedAfter) {
      const isBlended = [blendOnBlack(pixels.before, blendedBefore), blendOnBlack(pixels.after, blendedAfter)]
      pixels = { ...pixels, before: blendedBefore, after: blendedAfter }
      // White content of a transparent picture does not show on white, but it does on black.
      if (isBlended.some(Boolean)) {
        this.#fillIgnored(ignored, rows)
        for (let at = 0; at < mask.length; at++) if (mask[at] !== 0) ignored[at] = 1
        this.#match(pixels, rows.width)
      }
    }
    if (this.settings.forgivesOffsets) this.#forgive(pixels, rows.width)
    // Again, because the marks of decided pixels were added.
    this.#fillIgnored(ignored, rows)
    return pixels
  }

  /** Marks the ignored areas, and the rows that belong to other bands. */
  #fillIgnored(ignored: Uint8Array, { top, bottom, from, width }: StripRows): void {
    fillIgnoreMask(ignored, this.settings.ignored, { top: from, width, height: ignored.length / width })
    ignored.fill(1, 0, (top - from) * width)
    ignored.fill(1, (bottom - from) * width)
  }

  #match({ before, after, mask, ignored }: StripPixels, width: number): void {
    const strip: FlatStrip = { before, after, width, mask, isDecided: ignored }
    const { antialiasing } = this.settings
    for (const range of decideFlatAreas(strip, this.#pairs, 2 * REACH)) {
      const isRough = range.pixels > ROUGH_SHARE * (range.end - range.first) * width
      const steps = range.pixels * (antialiasing ? (isRough ? COLOR_STEPS : 0) : SMOOTH_STEPS)
      if (isRough && this.#stepsLeft - steps < this.#roughFrom) this.#matchRough(strip, range)
      else this.#matchPixels(strip, range, !this.#spend(steps) || antialiasing)
    }
  }

  /** Compares the rows of a range with pixelmatch. */
  #matchPixels({ before, after, width, mask, isDecided }: FlatStrip, { first, end }: RowRange, countsSmooth: boolean): void {
    const [from, to] = [Math.max(0, first - REACH) * width, Math.min(mask.length, (end + REACH) * width)]
    const cut = (pixels: Uint32Array) => new Uint8Array(pixels.buffer, pixels.byteOffset + from * CHANNELS, (to - from) * CHANNELS)
    // White as the background, because pixelmatch’s checkerboard depends on the position in the strip.
    const options = { threshold: this.settings.colorTolerance, includeAA: countsSmooth, diffMask: true, checkerboard: false }
    const ignoreMask = isDecided.subarray(from, to)
    pixelmatch(cut(before), cut(after), cut(mask), width, (to - from) / width, { ...options, ignoreMask })
  }

  /** Compares rows in which many pixels differ: first by color, and then only those that may be smooth edges. */
  #matchRough(strip: FlatStrip, range: RowRange): void {
    if (!this.#spend(COLOR_STEPS * range.pixels)) {
      matchLevels(strip, range, this.settings.colorTolerance)
      return
    }
    this.#matchPixels(strip, range, true)
    if (this.settings.antialiasing) return
    const found = this.#smooth.find(strip, range)
    if (found === 0 || !this.#spend(SMOOTH_STEPS * found)) return
    this.#smooth.keep(strip, range)
    this.#matchPixels(strip, range, false)
  }

  #forgive(pixels: StripPixels, width: number): void {
    let count = 0
    for (const changed of pixels.mask) if (changed !== 0) count++
    if (count > 0 && this.#spend(OFFSET_STEPS * count)) forgiveOffsets({ ...pixels, width })
  }

  /** Returns false if the limit would be exceeded. */
  #spend(steps: number): boolean {
    const isWithin = steps <= this.#stepsLeft
    if (isWithin) this.#stepsLeft -= steps
    else this.isLimited = true
    return isWithin
  }
}

/** Marks the pixels of which a channel differs by more than the tolerance, which is less exact than pixelmatch, but fast. */
function matchLevels({ before, after, width, mask, isDecided }: FlatStrip, { first, end }: RowRange, tolerance: number): void {
  const levels = tolerance * MAX_LEVEL
  for (let at = first * width; at < end * width; at++) {
    if (isDecided[at] !== 0) continue
    const [one, other] = [before[at]!, after[at]!]
    for (let shift = 0; shift < 32; shift += 8) {
      if (Math.abs(((one >>> shift) & 0xff) - ((other >>> shift) & 0xff)) > levels) {
        mask[at] = 1
        break
      }
    }
  }
}

const MAX_LEVEL = 255
const OPAQUE = 0xff000000

/** Blends pixels with black. Returns false if they already were opaque. */
function blendOnBlack(pixels: Uint32Array, target: Uint32Array): boolean {
  let isBlended = false
  for (let at = 0; at < pixels.length; at++) {
    const pixel = pixels[at]!
    const alpha = pixel >>> 24
    if (alpha === MAX_LEVEL) {
      target[at] = pixel
      continue
    }
    isBlended = true
    // Rounded: no product is half way between two multiples of 255.
    const blend = (shift: number) => Math.floor((((pixel >>> shift) & 0xff) * alpha + 127) / MAX_LEVEL) << shift
    target[at] = alpha === 0 ? OPAQUE : blend(0) | blend(8) | blend(16) | OPAQUE
  }
  return isBlended
}

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
