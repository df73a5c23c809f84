import { CELL, type ChangedPixels } from './changed-pixels.ts'

// Adds the changed pixels of a strip, cell by cell. Pixels within the tolerance count too if their color changed as that of an area does: a
// background that turned cream, or a pale badge.

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
/** Share of the differences of a cell that must be in one direction. Smooth edges and noise differ in both. */
const SAME_WAY = 0.5

/** Which pixels differ a little. */
export interface SlightLevels {
  /** Levels of 255 from which they do. */
  min: number
  /** A pixel counts by the square of its levels, up to this many: a larger difference needs fewer pixels. */
  max: number
  /** A picture was compressed with loss, so that areas of one color are not flat. */
  isLossy: boolean
}

/**
 * Adds the changed pixels of a strip.
 * @param levels undefined: no pixels differ a little
 */
export function addChanges(changed: ChangedPixels, pixels: StripPixels, rows: StripRows, levels: SlightLevels | undefined): void {
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

/** A byte of bits for each row of a cell: pixels that differ a little, and those of them in flat areas. */
const found = new Uint8Array(CELL)
const flat = new Uint8Array(CELL)
/** The largest difference of a channel, for each pixel that differs a little. */
const levelsFound = new Uint8Array(CELL * CELL)

/** Adds the other pixels of a cell: all if most of it differs in the same way, otherwise those of flat areas, which are no smooth edges. */
function addSlight(changed: ChangedPixels, pixels: StripPixels, rows: StripRows, cell: Cell, levels: SlightLevels): void {
  const { before, after, mask, ignored } = pixels
  const { column, top, bottom } = cell
  const left = column * CELL
  const count = Math.min(CELL, rows.width - left)
  let [total, sum, red, green, blue, alpha] = [0, 0, 0, 0, 0, 0]
  found.fill(0)
  flat.fill(0)
  for (let y = top; y < bottom; y++) {
    const start = (y - rows.from) * rows.width + left
    for (let x = 0; x < count; x++) {
      const at = start + x
      const one = before[at]!
      const other = after[at]!
      if (one === other || mask[at] !== 0 || ignored[at] !== 0) continue
      const r = (other & 0xff) - (one & 0xff)
      const g = ((other >>> 8) & 0xff) - ((one >>> 8) & 0xff)
      const b = ((other >>> 16) & 0xff) - ((one >>> 16) & 0xff)
      const a = (other >>> 24) - (one >>> 24)
      const level = Math.max(Math.abs(r), Math.abs(g), Math.abs(b), Math.abs(a))
      if (level < levels.min) continue
      found[y - top]! |= 1 << x
      levelsFound[(y - top) * CELL + x] = level
      total++
      sum += level
      red += r
      green += g
      blue += b
      alpha += a
    }
  }
  if (total === 0) return
  const oneWay = Math.max(Math.abs(red), Math.abs(green), Math.abs(blue), Math.abs(alpha))
  const isWhole = oneWay >= SAME_WAY * sum && total >= SHARE * count * (bottom - top)
  const visible = findFlat(pixels, rows, cell, levels, isWhole && levels.isLossy)
  if (isWhole) changed.addSlight(column, top, found, Math.max(total, visible))
  else if (visible > 0) changed.addSlight(column, top, flat, visible)
}

/** Finds the pixels in flat areas: their left and upper neighbors have the same colors. Returns as how many of the smallest difference they count. */
function findFlat(
  { before, after }: StripPixels,
  { from, width }: StripRows,
  { column, top, bottom }: Cell,
  levels: SlightLevels,
  isFlat: boolean,
): number {
  let visible = 0
  const isLike = (at: number, near: number) => before[at] === before[near] && after[at] === after[near]
  for (let y = top; y < bottom; y++) {
    let bits = 0
    for (let x = 0; x < CELL; x++) {
      if ((found[y - top]! & (1 << x)) === 0) continue
      const at = (y - from) * width + column * CELL + x
      const hasNeighbors = column + x > 0 && at >= width
      if (!isFlat && !(hasNeighbors && isLike(at, at - 1) && isLike(at, at - width) && isLike(at, at - width - 1))) continue
      bits |= 1 << x
      visible += (Math.min(levelsFound[(y - top) * CELL + x]!, levels.max) / levels.min) ** 2
    }
    flat[y - top] = bits
  }
  return visible
}
