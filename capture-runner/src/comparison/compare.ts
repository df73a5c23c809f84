import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PictureBox } from '@tintype/crds/kinds/comparison'
import pixelmatch from 'pixelmatch'
import { ChangedPixels } from './changed-pixels.ts'
import { allocateRows, CHANNELS, type DecodedPicture } from './decoded-picture.ts'
import { toIgnoreMask } from './ignore-mask.ts'
import type { Size } from './outside.ts'

// Compares two pictures strip by strip, so that memory does not grow with the page (ADR 46). The result is that of pixelmatch on the whole pictures.

/** How to compare. */
export interface ComparisonSettings {
  /** Color difference up to which pixels count as equal, 0 to 1. */
  colorTolerance: number
  /** Whether antialiased pixels count. */
  antialiasing: boolean
  /** Areas that are not compared, in pixels of the picture. */
  ignored: readonly PictureBox[]
}

/** Pixels of a strip. Each strip blocks the process for some milliseconds. */
const STRIP_PIXELS = 2 ** 19
/** Rows above and below a strip that pixelmatch reads to detect antialiasing: the neighbors of neighbors. */
const OVERLAP = 2

/**
 * Compares two pictures. If their sizes differ, pixels that only one of them has count as changed.
 * @returns the changed pixels on a canvas that contains both pictures
 */
export async function comparePictures(
  before: DecodedPicture,
  after: DecodedPicture,
  settings: ComparisonSettings,
  signal: AbortSignal,
): Promise<ChangedPixels> {
  const changed = new ChangedPixels(Math.max(before.width, after.width), Math.max(before.height, after.height))
  const width = Math.min(before.width, after.width)
  const height = Math.min(before.height, after.height)
  // By the wider picture, because its rows are read whole.
  const stripRows = Math.max(1, Math.floor(STRIP_PIXELS / changed.width))
  // The same memory for each strip: collecting it as garbage would take as long as a decoder.
  const [ofBefore, ofAfter, ofMask] = [0, 1, 2].map(() => allocateRows(stripRows + 2 * OVERLAP, width)) as [Buffer, Buffer, Buffer]
  const isOpaque = !before.mayBeTransparent && !after.mayBeTransparent
  for (let top = 0; top < height; top += stripRows) {
    signal.throwIfAborted()
    const bottom = Math.min(height, top + stripRows)
    const from = Math.max(0, top - OVERLAP)
    const to = Math.min(height, bottom + OVERLAP)
    const rows = await Promise.all([before.readRows(from, to - from, width, ofBefore), after.readRows(from, to - from, width, ofAfter)])
    const mask = findChanges([...rows, ofMask], { top: from, width, height: to - from }, settings, isOpaque)
    if (mask) addChanges(changed, mask, { top, bottom, from, width })
  }
  await addOutside(changed, { width, height }, settings.ignored, signal)
  return changed
}

interface Strip {
  top: number
  width: number
  height: number
}

/** Compares the rows of a strip. Returns an image in `space` whose changed pixels are not 0; undefined if there are none. */
function findChanges(
  [before, after, space]: readonly [before: Buffer, after: Buffer, space: Buffer],
  strip: Strip,
  { colorTolerance, antialiasing, ignored }: ComparisonSettings,
  isOpaque: boolean,
): Uint32Array | undefined {
  const { width, height } = strip
  if (before.equals(after)) return undefined
  const mask = space.subarray(0, before.length).fill(0)
  const ignoreMask = toIgnoreMask(ignored, strip)
  // White as the background, because pixelmatch’s checkerboard depends on the position in the strip.
  const options = { threshold: colorTolerance, includeAA: antialiasing, diffMask: true, checkerboard: false, ignoreMask }
  let count = pixelmatch(before, after, mask, width, height, options)
  // White content of a transparent picture does not show on white, but it does on black.
  if (!isOpaque && (blendOnBlack(before) || blendOnBlack(after))) {
    blendOnBlack(after)
    count += pixelmatch(before, after, mask, width, height, options)
  }
  return count === 0 ? undefined : new Uint32Array(mask.buffer, mask.byteOffset, mask.length / CHANNELS)
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

interface InnerRows {
  top: number
  bottom: number
  /** First row of the mask. */
  from: number
  width: number
}

function addChanges(changed: ChangedPixels, mask: Uint32Array, { top, bottom, from, width }: InnerRows): void {
  for (let y = top; y < bottom; y++) {
    const start = (y - from) * width
    changed.addRow(y, 0, width, (x) => mask[start + x] !== 0)
  }
}

/** Adds the pixels right of the common part and below it. */
async function addOutside(changed: ChangedPixels, common: Size, ignored: readonly PictureBox[], signal: AbortSignal): Promise<void> {
  const { width, height } = changed
  let pixels = 0
  for (let y = 0; y < height; y++) {
    const first = y < common.height ? common.width : 0
    if (first === width) continue
    const mask = toIgnoreMask(ignored, { top: y, width, height: 1 })
    changed.addRow(y, first, width, (x) => !mask?.[x])
    pixels += width - first
    if (pixels < STRIP_PIXELS) continue
    pixels = 0
    await nextTurn()
    signal.throwIfAborted()
  }
}
