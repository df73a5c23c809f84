import { CELL, type ChangedPixels } from './changed-pixels.ts'

// Adds the changed pixels of a strip, cell by cell. A cell whose color as a whole differs a little counts too, although each pixel is within the
// tolerance: a background that turned cream.

/** Pixels of a strip. */
export interface StripPixels {
  before: Uint32Array
  after: Uint32Array
  /** Not 0: the pixel differs by more than the tolerance. */
  mask: Uint32Array
  /** Not 0: the pixel is not compared. */
  ignored: Uint8Array
}

/** Rows of a strip that begin and end with a cell, except at the end of the picture. `from`: the first row of its pixels. */
export interface StripRows {
  top: number
  bottom: number
  from: number
  width: number
}

/** Share of a cell that must differ a little. The rest can be text, which kept its color. */
const SHARE = 0.5

/**
 * Adds the changed pixels of a strip.
 * @param levels levels of 255 from which pixels differ a little; undefined: no pixels do
 */
export function addChanges(changed: ChangedPixels, pixels: StripPixels, rows: StripRows, levels: number | undefined): void {
  const columns = Math.ceil(rows.width / CELL)
  for (let top = rows.top; top < rows.bottom; top += CELL) {
    // One object for all cells: a page has hundreds of thousands.
    const cell: Cell = { column: 0, top, bottom: Math.min(rows.bottom, top + CELL) }
    for (; cell.column < columns; cell.column++) {
      if (addStrong(changed, pixels, rows, cell) && levels !== undefined) addSlight(changed, pixels, rows, cell, levels)
    }
  }
}

interface Cell {
  column: number
  top: number
  bottom: number
}

/** Adds the pixels of a cell that differ by more than the tolerance. Returns whether others differ. */
function addStrong(
  changed: ChangedPixels,
  { before, after, mask }: StripPixels,
  { from, width }: StripRows,
  { column, top, bottom }: Cell,
): boolean {
  const left = column * CELL
  const count = Math.min(CELL, width - left)
  let hasOthers = false
  for (let y = top; y < bottom; y++) {
    let found = 0
    const start = (y - from) * width + left
    for (let x = 0; x < count; x++) {
      if (mask[start + x] !== 0) found |= 1 << x
      else if (before[start + x] !== after[start + x]) hasOthers = true
    }
    if (found !== 0) changed.add(column, y, found, changed.strong)
  }
  return hasOthers
}

/** A byte of bits for each row of a cell. */
const found = new Uint8Array(CELL)

/** Adds the other pixels of a cell if most of it differs in the same way. */
function addSlight(changed: ChangedPixels, pixels: StripPixels, { from, width }: StripRows, cell: Cell, levels: number): void {
  const { before, after, mask, ignored } = pixels
  const { column, top, bottom } = cell
  const left = column * CELL
  const count = Math.min(CELL, width - left)
  let [total, red, green, blue, alpha] = [0, 0, 0, 0, 0]
  found.fill(0)
  for (let y = top; y < bottom; y++) {
    const start = (y - from) * width + left
    for (let x = 0; x < count; x++) {
      const at = start + x
      const one = before[at]!
      const other = after[at]!
      if (one === other || mask[at] !== 0 || ignored[at] !== 0) continue
      const r = (other & 0xff) - (one & 0xff)
      const g = ((other >>> 8) & 0xff) - ((one >>> 8) & 0xff)
      const b = ((other >>> 16) & 0xff) - ((one >>> 16) & 0xff)
      const a = (other >>> 24) - (one >>> 24)
      if (Math.max(Math.abs(r), Math.abs(g), Math.abs(b), Math.abs(a)) < levels) continue
      found[y - top]! |= 1 << x
      total++
      red += r
      green += g
      blue += b
      alpha += a
    }
  }
  // Noise differs in both directions.
  const isSameWay = Math.max(Math.abs(red), Math.abs(green), Math.abs(blue), Math.abs(alpha)) >= levels * total
  if (!isSameWay || total < SHARE * count * (bottom - top)) return
  for (let y = top; y < bottom; y++) changed.add(column, y, found[y - top]!, changed.slight)
}
