// Collects the pixels in which two pictures differ, and how many each cell of a grid has. regions.ts decides which of them count.

/**
 * Side of a cell in pixels. Differences in neighboring cells belong together, such as the strokes of a letter and the letters of a word. A row of a
 * cell is a byte of the bits.
 */
export const CELL = 8

/** Number of bits that are set, for each byte. */
const BITS = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length)

/** First and last column and row with a changed pixel. */
export interface Sides {
  left: number
  top: number
  right: number
  bottom: number
}

/** Changed pixels of a picture. */
export class ChangedPixels {
  readonly width: number
  readonly height: number
  readonly columns: number
  readonly rows: number
  /** For each cell: the number of pixels whose color differs by more than the tolerance. */
  readonly strong: Uint8Array
  /** For each cell: the number of pixels that differ by less, as the color of an area. */
  readonly slight: Uint8Array
  /** For each cell: how visible these are, in pixels of the smallest difference. */
  readonly visible: Float32Array
  /** Whether smooth edges count, because too many pixels differ to search for them. */
  isLimited = false
  /** One bit for each pixel. Each row begins with a byte. */
  readonly #bits: Uint8Array
  #count = 0

  constructor(width: number, height: number) {
    this.width = width
    this.height = height
    this.columns = Math.ceil(width / CELL)
    this.rows = Math.ceil(height / CELL)
    this.strong = new Uint8Array(this.columns * this.rows)
    this.slight = new Uint8Array(this.columns * this.rows)
    this.visible = new Float32Array(this.columns * this.rows)
    this.#bits = new Uint8Array(this.columns * height)
  }

  /** Number of changed pixels. */
  get count(): number {
    return this.#count
  }

  /**
   * Adds pixels of a row within a cell, which must not have been added before.
   * @param pixels a bit for each pixel, the lowest for the first
   * @param kind `strong` or `slight`
   */
  add(column: number, y: number, pixels: number, kind: Uint8Array): void {
    const count = BITS[pixels]!
    kind[Math.floor(y / CELL) * this.columns + column]! += count
    this.#bits[y * this.columns + column]! |= pixels
    this.#count += count
  }

  /** Adds slightly changed pixels of a cell, a byte of bits for each row from `top`. `visible`: as many pixels of the smallest difference. */
  addSlight(column: number, top: number, rows: Uint8Array, visible: number): void {
    for (const [index, pixels] of rows.entries()) if (pixels !== 0) this.add(column, top + index, pixels, this.slight)
    this.visible[Math.floor(top / CELL) * this.columns + column]! += visible
  }

  /** Visits the cells with changed pixels of a row: the column of their first pixel, a bit for each changed pixel, and the cell. */
  forRow(y: number, visit: (left: number, pixels: number, cell: number) => void): void {
    const firstCell = Math.floor(y / CELL) * this.columns
    for (let column = 0; column < this.columns; column++) {
      const pixels = this.#bits[y * this.columns + column]!
      if (pixels !== 0) visit(column * CELL, pixels, firstCell + column)
    }
  }

  /** The sides of the changed pixels of a cell that has some. */
  sidesOf(cell: number): Sides {
    const column = cell % this.columns
    const first = Math.floor(cell / this.columns) * CELL
    const last = Math.min(this.height, first + CELL) - 1
    const pixelsOf = (y: number) => this.#bits[y * this.columns + column]!
    let [top, bottom, all] = [first, last, 0]
    while (pixelsOf(top) === 0) top++
    while (pixelsOf(bottom) === 0) bottom--
    for (let y = top; y <= bottom; y++) all |= pixelsOf(y)
    const x = column * CELL
    return { left: x + 31 - Math.clz32(all & -all), top, right: x + 31 - Math.clz32(all), bottom }
  }
}
