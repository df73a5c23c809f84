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

/** The element to capture. */
export interface ElementPlan {
  selector: string
  all: boolean
  /** CSS pixels around it. */
  padding: number
  isolate: boolean
  scrollIntoView: boolean
  required: boolean
}

/** The part of the page to capture. Absent: the window or the full page. */
export interface RegionPlan {
  element?: ElementPlan
  clip?: Tile
  /** False: captures only the window, which is made taller for a full page. */
  beyondWindow: boolean
}

/** Builds the plan for the part of the page. */
export function buildRegion(options: EffectiveOptions): RegionPlan {
  const { selector, clipX, clipY, clipWidth, clipHeight, captureBeyondViewport: beyondWindow } = options
  if (selector !== undefined) return { element: buildElement(selector, options), beyondWindow }
  if (clipX === undefined || clipY === undefined || clipWidth === undefined || clipHeight === undefined) return { beyondWindow }
  return { clip: { x: clipX, y: clipY, width: clipWidth, height: clipHeight }, beyondWindow }
}

const buildElement = (selector: string, options: EffectiveOptions): ElementPlan => ({
  selector,
  all: options.selectorAll,
  padding: options.selectorPadding,
  isolate: options.selectorIsolate,
  scrollIntoView: options.selectorScrollIntoView && options.selectorAlgorithm === 'element',
  required: options.errorOnSelectorNotFound,
})
