import type { PageSize, Tile } from '../plan/region.ts'

// Computes regions of the page. Pure functions, in CSS pixels from the page's top left corner.

/** Tolerated rounding error of whole-pixel boxes. */
const TOLERANCE = 0.01

/** The bounding box of elements with padding, within the page. @param boxes at least one */
export function toRegion(boxes: readonly Tile[], padding: number, { contentWidth, contentHeight }: PageSize): Tile {
  const left = Math.max(0, Math.floor(Math.min(...boxes.map(({ x }) => x)) + TOLERANCE) - padding)
  const top = Math.max(0, Math.floor(Math.min(...boxes.map(({ y }) => y)) + TOLERANCE) - padding)
  const right = Math.ceil(Math.max(...boxes.map(({ x, width }) => x + width)) - TOLERANCE) + padding
  const bottom = Math.ceil(Math.max(...boxes.map(({ y, height }) => y + height)) - TOLERANCE) + padding
  const width = Math.min(right, Math.max(contentWidth, left + 1)) - left
  const height = Math.min(bottom, Math.max(contentHeight, top + 1)) - top
  return { x: left, y: top, width: Math.max(1, width), height: Math.max(1, height) }
}

/** The part of the page that a window shows. */
export const windowAt = ({ width, height }: { width: number; height: number }, { scrollX, scrollY, scale = 1 }: PageSize): Tile => ({
  x: scrollX,
  y: scrollY,
  width: width / scale,
  height: height / scale,
})

/** The part of a region inside the window; undefined if there is none. */
export function withinWindow(region: Tile, viewport: { width: number; height: number }, page: PageSize): Tile | undefined {
  const window = windowAt(viewport, page)
  const x = Math.max(region.x, window.x)
  const y = Math.max(region.y, window.y)
  const width = Math.min(region.x + region.width, window.x + window.width) - x
  const height = Math.min(region.y + region.height, window.y + window.height) - y
  return width > 0 && height > 0 ? { x, y, width, height } : undefined
}
