import type { EffectiveOptions } from '@tintype/crds/options/catalog'

/** A rectangle of the page in CSS pixels, from the page's top left corner. */
export interface Tile {
  x: number
  y: number
  width: number
  height: number
}

/** Measured page size, in CSS pixels. */
export interface PageSize {
  /** The whole page. */
  contentWidth: number
  contentHeight: number
  /** Where the window begins. */
  scrollX: number
  scrollY: number
  /** Where a window that is not scrolled begins. Above 0 on a page that is read from the right and is wider than the window. Absent: 0. */
  startX?: number
  /** How much smaller than usual the window shows the page: below 1 only on a phone, for a page that is wider than the window. Absent: 1. */
  scale?: number
}

/** The part of the page to capture. Absent, and without `selector`: the window or the full page. */
export interface RegionPlan {
  clip?: Tile
}

/** Builds the plan for the part of the page. */
export function buildRegion({ clipX, clipY, clipWidth, clipHeight }: EffectiveOptions): RegionPlan {
  if (clipX === undefined || clipY === undefined || clipWidth === undefined || clipHeight === undefined) return {}
  return { clip: { x: clipX, y: clipY, width: clipWidth, height: clipHeight } }
}
