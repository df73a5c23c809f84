interface Viewport {
  /** Pixels of the list above the upper edge of the window. */
  above: number
  /** Height of the window. */
  height: number
  columns: number
  rowHeight: number
  count: number
}

/** The part of a grid to draw, and the heights of the parts before and after it. */
export interface VisibleRange {
  start: number
  end: number
  before: number
  after: number
}

/** Rows that are drawn beyond the window, so that the keyboard and fast scrolling find them. */
const EXTRA_ROWS = 3

/** Finds the items to draw, so that a list of thousands costs as much as a screen full of them. */
export function toVisibleRange({ above, height, columns, rowHeight, count }: Viewport): VisibleRange {
  const rows = Math.ceil(count / columns)
  const first = Math.min(Math.max(0, Math.floor(above / rowHeight) - EXTRA_ROWS), Math.max(0, rows - 1))
  const last = Math.min(rows, Math.ceil((above + height) / rowHeight) + EXTRA_ROWS)
  const end = Math.max(first, last)
  return {
    start: first * columns,
    end: Math.min(count, end * columns),
    before: first * rowHeight,
    after: Math.max(0, rows - end) * rowHeight,
  }
}
