/** A piece of the page in CSS pixels, from the page's top left corner. */
export interface Tile {
  x: number
  y: number
  width: number
  height: number
}

/** What was measured on the page, in CSS pixels. */
export interface PageSize {
  /** The whole page. */
  contentWidth: number
  contentHeight: number
  /** Where the window is scrolled to. */
  scrollX: number
  scrollY: number
}
