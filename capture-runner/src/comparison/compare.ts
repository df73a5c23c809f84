import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PictureBox } from '@tintype/crds/kinds/comparison'
import pixelmatch from 'pixelmatch'
import { addChanges, type SlightLevels, type StripRows } from './add-changes.ts'
import { CELL, ChangedPixels } from './changed-pixels.ts'
import { allocateRows, CHANNELS, type DecodedPicture, toPixels } from './decoded-picture.ts'
import { ColorPairs, decideFlatAreas } from './flat-areas.ts'
import { forgiveOffsets } from './forgive-offsets.ts'
import { fillIgnoreMask, toIgnoreMask } from './ignore-mask.ts'
import { canvasOf, type Size } from './outside.ts'

// Compares two pictures strip by strip, so that memory does not grow with the page (ADR 46). The result is that of pixelmatch on the whole pictures.

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

/** Pixels of a strip. Each strip blocks the process for some milliseconds. */
const STRIP_PIXELS = 2 ** 19
/** Pixels to search for smooth edges, which takes five times as long as to compare them: about six seconds. Beyond it, smooth edges count. */
const MAX_SMOOTH_PIXELS = 2 ** 24
/** Rows above and below a strip that pixelmatch reads to detect antialiasing: the neighbors of neighbors. */
const OVERLAP = 2

/**
 * Compares two pictures. If their sizes differ, pixels that only one of them has count as changed.
 * @param canvas size of the result: pixels outside of it are not compared. Default: that which contains both pictures
 */
export async function comparePictures(
  before: DecodedPicture,
  after: DecodedPicture,
  settings: ComparisonSettings,
  signal: AbortSignal,
  canvas: Size = canvasOf(before, after),
  maxSmoothPixels = MAX_SMOOTH_PIXELS,
): Promise<ChangedPixels> {
  const changed = new ChangedPixels(canvas.width, canvas.height)
  const width = Math.min(before.width, after.width, canvas.width)
  const height = Math.min(before.height, after.height, canvas.height)
  // By the wider picture, because its rows are read whole. Whole cells, which the search for slight changes needs.
  const fitting = Math.floor(STRIP_PIXELS / Math.max(before.width, after.width) / CELL) * CELL
  const stripRows = Math.max(CELL, Math.min(fitting, Math.ceil(height / CELL) * CELL))
  // The same memory for each strip: collecting it as garbage would take as long as a decoder.
  const space = () => allocateRows(stripRows + 2 * OVERLAP, width)
  const [ofBefore, ofAfter, ofMask] = [space(), space(), space()]
  const strip: Strip = {
    ...{ width, settings, mask: ofMask, ignored: new Uint8Array((stripRows + 2 * OVERLAP) * width) },
    isOpaque: !before.mayBeTransparent && !after.mayBeTransparent,
    pairs: new ColorPairs(settings.colorTolerance),
    smoothLeft: settings.antialiasing ? Number.POSITIVE_INFINITY : maxSmoothPixels,
  }
  for (let top = 0; top < height; top += stripRows) {
    signal.throwIfAborted()
    const bottom = Math.min(height, top + stripRows)
    const from = Math.max(0, top - OVERLAP)
    const to = Math.min(height, bottom + OVERLAP)
    const rows = await Promise.all([before.readRows(from, to - from, width, ofBefore), after.readRows(from, to - from, width, ofAfter)])
    if (!rows[0].equals(rows[1])) addStrip(changed, strip, rows, { top, bottom, from, width })
  }
  changed.isLimited = strip.smoothLeft < 0
  await addOutside(changed, { common: { width, height }, all: canvasOf(before, after) }, settings.ignored, signal)
  return changed
}

/** What the strips have in common. Their memory is used again for each. */
interface Strip {
  width: number
  settings: ComparisonSettings
  isOpaque: boolean
  pairs: ColorPairs
  /** One byte for each pixel that is not compared. */
  ignored: Uint8Array
  mask: Buffer
  /** Pixels to search for smooth edges. Below 0: no more. */
  smoothLeft: number
}

/**
 * Adds the changes of a strip. Only bands of cells that differ are compared pixel by pixel. Rows are blended in place, so no row may be in two bands:
 * at least a cell is between them, which has more rows than both overlap.
 */
function addStrip(changed: ChangedPixels, strip: Strip, [before, after]: [Buffer, Buffer], { top, bottom, from, width }: StripRows): void {
  const at = (y: number) => (y - from) * width * CHANNELS
  const isSame = (y: number, end: number) => before.compare(after, at(y), at(end), at(y), at(end)) === 0
  for (let y = top; y < bottom; ) {
    const first = y
    while (y < bottom && !isSame(y, Math.min(bottom, y + CELL))) y += CELL
    if (y === first) {
      y += CELL
      continue
    }
    const last = Math.min(bottom, y)
    const start = Math.max(from, first - OVERLAP)
    const [begin, end] = [at(start), Math.min(before.length, at(last + OVERLAP))]
    addBand(changed, strip, [before.subarray(begin, end), after.subarray(begin, end)], { top: first, bottom: last, from: start, width })
  }
}

function addBand(changed: ChangedPixels, strip: Strip, [before, after]: [Buffer, Buffer], rows: StripRows): void {
  const { width, settings } = strip
  const ignored = strip.ignored.subarray(0, before.length / CHANNELS)
  const fill = () => fillIgnoreMask(ignored, settings.ignored, { top: rows.from, width, height: ignored.length / width })
  fill()
  const mask = toPixels(findChanges(strip, before, after, ignored))
  const pixels = { before: toPixels(before), after: toPixels(after), mask, ignored }
  if (settings.forgivesOffsets) forgiveOffsets({ ...pixels, width })
  // Again, because the marks of flat areas were added.
  fill()
  addChanges(changed, pixels, rows, settings.slightLevels)
}

/** Compares rows. Returns an image whose changed pixels are not 0. */
function findChanges(strip: Strip, before: Buffer, after: Buffer, ignored: Uint8Array): Buffer {
  const { width, settings, isOpaque, pairs } = strip
  const mask = strip.mask.subarray(0, before.length).fill(0)
  const { colorTolerance, antialiasing } = settings
  const match = (first: number, end: number) => {
    const [from, to] = [first * width, end * width]
    const cut = (rows: Buffer) => rows.subarray(from * CHANNELS, to * CHANNELS)
    // White as the background, because pixelmatch’s checkerboard depends on the position in the strip.
    const options = { threshold: colorTolerance, includeAA: antialiasing || strip.smoothLeft < 0, diffMask: true, checkerboard: false }
    pixelmatch(cut(before), cut(after), cut(mask), width, end - first, { ...options, ignoreMask: ignored.subarray(from, to) })
  }
  const height = ignored.length / width
  if (isOpaque) {
    const flat = { before: toPixels(before), after: toPixels(after), width, mask: toPixels(mask), isDecided: ignored }
    const { ranges, pixels } = decideFlatAreas(flat, pairs, 2 * OVERLAP)
    strip.smoothLeft -= pixels
    for (const { first, end } of ranges) match(Math.max(0, first - OVERLAP), Math.min(height, end + OVERLAP))
    return mask
  }
  const [ofBefore, ofAfter] = [toPixels(before), toPixels(after)]
  for (let at = 0; at < ofBefore.length; at++) if (ofBefore[at] !== ofAfter[at]) strip.smoothLeft--
  match(0, height)
  // White content of a transparent picture does not show on white, but it does on black.
  if (blendOnBlack(before) || blendOnBlack(after)) {
    blendOnBlack(after)
    match(0, height)
  }
  return mask
}

const OPAQUE = 255

/** Makes the pixels opaque. Returns false if they already were. */
function blendOnBlack(pixels: Buffer): boolean {
  let isBlended = false
  for (let at = 0; at < pixels.length; at += CHANNELS) {
    const alpha = pixels[at + 3] ?? OPAQUE
    if (alpha === OPAQUE) continue
    isBlended = true
    for (let channel = 0; channel < 3; channel++) pixels[at + channel] = Math.round(((pixels[at + channel] ?? 0) * alpha) / OPAQUE)
    pixels[at + 3] = OPAQUE
  }
  return isBlended
}

/** Adds the pixels right of the common part and below it. */
async function addOutside(
  changed: ChangedPixels,
  { common, all }: { common: Size; all: Size },
  ignored: readonly PictureBox[],
  signal: AbortSignal,
): Promise<void> {
  const width = Math.min(changed.width, all.width)
  const height = Math.min(changed.height, all.height)
  const stripRows = Math.max(1, Math.floor(STRIP_PIXELS / width))
  for (let top = common.width === width ? common.height : 0; top < height; top += stripRows) {
    const rows = Math.min(stripRows, height - top)
    const mask = toIgnoreMask(ignored, { top, width, height: rows })
    for (let y = top; y < top + rows; y++) {
      const start = (y - top) * width
      for (let x = y < common.height ? common.width : 0; x < width; x++) {
        if (!mask?.[start + x]) changed.add(Math.floor(x / CELL), y, 1 << (x % CELL), changed.strong)
      }
    }
    await nextTurn()
    signal.throwIfAborted()
  }
}
