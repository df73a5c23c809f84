import { type InParts, Steps } from './in-turns.ts'

// Groups the cells of a grid that are near each other. Pure functions.

/** The grid of a picture. */
export interface Grid {
  columns: number
  rows: number
}

/**
 * The groups of wanted cells.
 * @param reach cells of a group are at most this far apart; 1: they touch, also at a corner
 * @param wanted not 0 for each wanted cell
 */
export function* groupCells({ columns, rows }: Grid, reach: number, wanted: Uint8Array): InParts<Uint32Array[]> {
  const steps = new Steps()
  const near = (2 * reach + 1) ** 2
  const isLeft = wanted.slice()
  // All groups, one after the other.
  const cells = new Uint32Array(isLeft.length)
  const groups: Uint32Array[] = []
  let end = 0
  const take = (cell: number) => {
    if (isLeft[cell] === 0) return
    isLeft[cell] = 0
    cells[end++] = cell
  }
  // A function of its own, because loops over all cells are slow in generators.
  const next = (from: number) => {
    let cell = from
    while (cell < isLeft.length && isLeft[cell] === 0) cell++
    return cell
  }
  for (let cell = next(0); cell < isLeft.length; cell = next(cell + 1)) {
    const start = end
    take(cell)
    // The group grows while it is read.
    for (let index = start; index < end; index++) {
      forNear({ columns, rows }, cells[index]!, reach, take)
      if (steps.add(near)) yield
    }
    groups.push(cells.subarray(start, end))
  }
  return groups
}

/** Visits the cells that are at most `reach` away from a cell. */
export function forNear({ columns, rows }: Grid, cell: number, reach: number, visit: (near: number) => void): void {
  const column = cell % columns
  const row = (cell - column) / columns
  const right = Math.min(columns - 1, column + reach)
  const bottom = Math.min(rows - 1, row + reach)
  for (let y = Math.max(0, row - reach); y <= bottom; y++) {
    for (let x = Math.max(0, column - reach); x <= right; x++) visit(y * columns + x)
  }
}
