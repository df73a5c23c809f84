// Computes the slices of a preview. Pure functions.

/** Pixels for each CSS pixel below which texts are hard to read. */
const MIN_SCALE = 0.7
/** CSS pixels that two neighbors share, so that each line of text is whole in one of them. */
const OVERLAP = 80

/** A picture in device pixels, with those of one CSS pixel. */
export interface Original {
  width: number
  height: number
  scale: number
}

/** Limits of the slices. `maxSide`: of both sides, in pixels. */
export interface SliceLimits {
  maxSide: number
  maxSlices: number
}

/** How to scale and cut a picture. Rows are of the scaled picture. */
export interface SlicePlan {
  /** Pixels of a slice for each CSS pixel, at most 1. */
  scale: number
  /** Size of the scaled picture in pixels. Its right side is cut off if no slice can be as wide as the picture. */
  width: number
  height: number
  /** The part of the picture's width that is shown, in device pixels. */
  shownWidth: number
  /** Rows of a slice, and rows that it shares with the next one. */
  sliceHeight: number
  overlap: number
  /** Number of slices that show all rows. */
  sliceCount: number
}

/**
 * Plans as few slices as possible, at the largest scale for which these suffice. A picture that is smaller than the page is not enlarged, and a picture
 * larger than the page is shown at CSS size.
 */
export function planSlices(picture: Original, { maxSide, maxSlices }: SliceLimits): SlicePlan {
  const least = Math.min(MIN_SCALE, picture.scale)
  const [cssWidth, cssHeight] = [picture.width / picture.scale, picture.height / picture.scale]
  const shown = Math.min(cssWidth, maxSide / least)
  const most = Math.max(least, Math.min(1, picture.scale, maxSide / shown))
  const count = countSlices(cssHeight, maxSide / least, OVERLAP)
  const fitting = (count * maxSide) / (cssHeight + (count - 1) * OVERLAP)
  const scale = count > maxSlices ? least : Math.max(least, Math.min(most, fitting))
  const toPixels = (length: number): number => Math.max(1, Math.floor(length * scale + ROUNDING))
  const [width, height, overlap] = [Math.min(maxSide, toPixels(shown)), toPixels(cssHeight), toPixels(OVERLAP)]
  // Slices of equal height, because a last one of few rows shows nothing.
  const sliceCount = countSlices(height, maxSide, overlap)
  const sliceHeight = count > maxSlices ? maxSide : Math.ceil((height + (sliceCount - 1) * overlap) / sliceCount)
  return { scale, width, height, shownWidth: Math.round(shown * picture.scale), sliceHeight, overlap, sliceCount }
}

/** Products of fractions end a little below whole numbers. */
const ROUNDING = 1e-6

/** Number of slices that show all of a height. */
export const countSlices = (height: number, sliceHeight: number, overlap: number): number =>
  Math.max(1, Math.ceil((height - overlap) / (sliceHeight - overlap) - ROUNDING))
