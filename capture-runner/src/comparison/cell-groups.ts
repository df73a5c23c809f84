// Groups the cells of a grid that are near each other. Pure functions.

/** The grid of a picture. */
export interface Grid {
  columns: number
  rows: number
}

/**
 * The groups of wanted cells.
 * @param reach cells of a group are at most this far apart; 1: they touch, also at a corner
 */
export function groupCells({ columns, rows }: Grid, reach: number, isWanted: (cell: number) => boolean): number[][] {
  const isTaken = new Uint8Array(columns * rows)
  const groups: number[][] = []
  for (let cell = 0; cell < isTaken.length; cell++) {
    if (isTaken[cell] !== 0 || !isWanted(cell)) continue
    isTaken[cell] = 1
    const group = [cell]
    // The group grows while it is read.
    for (let index = 0; index < group.length; index++) {
      forNear({ columns, rows }, group[index]!, reach, (near) => {
        if (isTaken[near] !== 0 || !isWanted(near)) return
        isTaken[near] = 1
        group.push(near)
      })
    }
    groups.push(group)
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
