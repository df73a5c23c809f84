import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PictureBox } from '@tintype/crds/kinds/comparison'
import { addChanges, type StripRows } from './add-changes.ts'
import { ChangeFinder, type ComparisonSettings } from './change-finder.ts'
import { CELL, ChangedPixels } from './changed-pixels.ts'
import { allocateRows, CHANNELS, type DecodedPicture } from './decoded-picture.ts'
import { toIgnoreMask } from './ignore-mask.ts'
import { type InParts, inTurns, Steps } from './in-turns.ts'
import { canvasOf, type Size } from './outside.ts'

// Compares two pictures strip by strip, so that memory does not grow with the page (ADR 46). The result is that of pixelmatch on the whole pictures.

/** Pixels of a strip, which are read at a time. */
const STRIP_PIXELS = 2 ** 19
/** Pixels to compare at a time, which blocks the process for some milliseconds. */
const BAND_PIXELS = 2 ** 17
/** Steps to compare pictures: about a second, and in proportion more for pictures of more than 11 megapixels. A page of text needs fewer. */
const MIN_LIMIT = 2 ** 23
const LIMIT_SHARE = 0.75
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
  maxSteps = Math.max(MIN_LIMIT, LIMIT_SHARE * canvas.width * canvas.height),
): Promise<ChangedPixels> {
  const changed = new ChangedPixels(canvas.width, canvas.height)
  const width = Math.min(before.width, after.width, canvas.width)
  const height = Math.min(before.height, after.height, canvas.height)
  // By the wider picture, because its rows are read whole. Whole cells, which the search for slight changes needs.
  const rowsOf = (pixels: number) =>
    Math.max(CELL, Math.min(Math.floor(pixels / Math.max(before.width, after.width) / CELL), Math.ceil(height / CELL)) * CELL)
  const [stripRows, bandRows] = [rowsOf(STRIP_PIXELS), rowsOf(BAND_PIXELS)]
  // The same memory for each strip: collecting it as garbage would take as long as a decoder.
  const [ofBefore, ofAfter] = [0, 1].map(() => allocateRows(stripRows + 2 * OVERLAP, width)) as [Buffer, Buffer]
  const isOpaque = !before.mayBeTransparent && !after.mayBeTransparent
  const finder = new ChangeFinder(settings, { width, rows: bandRows + 2 * OVERLAP, isOpaque, maxSteps })
  for (let top = 0; top < height; top += stripRows) {
    signal.throwIfAborted()
    const bottom = Math.min(height, top + stripRows)
    const from = Math.max(0, top - OVERLAP)
    const to = Math.min(height, bottom + OVERLAP)
    const rows = await Promise.all([before.readRows(from, to - from, width, ofBefore), after.readRows(from, to - from, width, ofAfter)])
    if (!rows[0].equals(rows[1])) await inTurns(addStrip(changed, finder, bandRows, rows, { top, bottom, from, width }), signal)
  }
  changed.isLimited = finder.isLimited
  await addOutside(changed, { common: { width, height }, all: canvasOf(before, after) }, settings.ignored, signal)
  return changed
}

/** Adds the changes of a strip. Only bands of cells that differ are compared pixel by pixel. */
function* addStrip(
  changed: ChangedPixels,
  finder: ChangeFinder,
  bandRows: number,
  [before, after]: [Buffer, Buffer],
  { top, bottom, from, width }: StripRows,
): InParts<void> {
  const at = (y: number) => (y - from) * width * CHANNELS
  const isSame = (y: number, end: number) => before.compare(after, at(y), at(end), at(y), at(end)) === 0
  const steps = new Steps()
  for (let y = top; y < bottom; ) {
    const first = y
    while (y < bottom && y - first < bandRows && !isSame(y, Math.min(bottom, y + CELL))) y += CELL
    if (y === first) {
      y += CELL
      continue
    }
    const last = Math.min(bottom, y)
    const start = Math.max(from, first - OVERLAP)
    const [begin, end] = [at(start), Math.min(before.length, at(last + OVERLAP))]
    const band: StripRows = { top: first, bottom: last, from: start, width }
    const pixels = finder.find([before.subarray(begin, end), after.subarray(begin, end)], band)
    addChanges(changed, pixels, band, finder.settings.slightLevels)
    if (steps.add(BAND_STEPS * (last - first) * width)) yield
  }
}

/** Steps to compare a pixel of a band. */
const BAND_STEPS = 4

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
