import { MAX_CHANGED_REGIONS, type PictureBox } from '@tintype/crds/kinds/comparison'

// Collects changed pixels, and finds the regions that they form. Nearby pixels belong to one region, so that a changed line of text is one region.

/** Side of the cells in which pixels are collected. Changes in neighboring cells form one region. */
const CELL = 16

interface Region {
  count: number
  left: number
  top: number
  right: number
  bottom: number
}

/** Changed pixels of a picture. */
export class ChangedPixels {
  readonly width: number
  readonly height: number
  #count = 0
  /** One bit for each pixel. */
  readonly #bits: Uint8Array
  /** Whether a row has changed pixels. */
  readonly #rows: Uint8Array
  readonly #columns: number
  /** For each cell: the number of changed pixels, and the first and the last column and row with one. */
  readonly #counts: Uint32Array
  readonly #left: Uint32Array
  readonly #top: Uint32Array
  readonly #right: Uint32Array
  readonly #bottom: Uint32Array

  constructor(width: number, height: number) {
    this.width = width
    this.height = height
    this.#bits = new Uint8Array(Math.ceil((width * height) / 8))
    this.#rows = new Uint8Array(height)
    this.#columns = Math.ceil(width / CELL)
    const cells = this.#columns * Math.ceil(height / CELL)
    this.#counts = new Uint32Array(cells)
    this.#left = new Uint32Array(cells).fill(width)
    this.#top = new Uint32Array(cells).fill(height)
    this.#right = new Uint32Array(cells)
    this.#bottom = new Uint32Array(cells)
  }

  get count(): number {
    return this.#count
  }

  /**
   * Adds pixels of a row, each of which must not have been added before.
   * @param isChanged whether the pixel is changed
   */
  addRow(y: number, from: number, to: number, isChanged: (x: number) => boolean): void {
    const row = y * this.width
    const cells = Math.floor(y / CELL) * this.#columns
    for (let start = from; start < to; ) {
      const end = Math.min(to, (Math.floor(start / CELL) + 1) * CELL)
      let count = 0
      let [first, last] = [end, start]
      for (let x = start; x < end; x++) {
        if (!isChanged(x)) continue
        count++
        if (x < first) first = x
        last = x
        // A picture has at most 200 million pixels, which 32 bits hold.
        this.#bits[(row + x) >>> 3]! |= 1 << ((row + x) & 7)
      }
      if (count > 0) this.#addToCell(cells + Math.floor(start / CELL), { count, left: first, top: y, right: last, bottom: y })
      start = end
    }
  }

  #addToCell(cell: number, { count, left, top, right, bottom }: Region): void {
    this.#count += count
    this.#rows[top] = 1
    this.#counts[cell]! += count
    if (left < this.#left[cell]!) this.#left[cell] = left
    if (right > this.#right[cell]!) this.#right[cell] = right
    if (top < this.#top[cell]!) this.#top[cell] = top
    if (bottom > this.#bottom[cell]!) this.#bottom[cell] = bottom
  }

  has(x: number, y: number): boolean {
    const index = y * this.width + x
    return (this.#bits[index >>> 3]! & (1 << (index & 7))) !== 0
  }

  hasInRow(y: number): boolean {
    return this.#rows[y] === 1
  }

  /** The regions, the one with most changed pixels first. At most {@link MAX_CHANGED_REGIONS}. */
  findRegions(): PictureBox[] {
    const isTaken = new Uint8Array(this.#counts.length)
    const regions: Region[] = []
    for (let cell = 0; cell < isTaken.length; cell++) {
      if (this.#counts[cell] !== 0 && isTaken[cell] === 0) regions.push(this.#takeRegion(cell, isTaken))
    }
    return regions
      .sort((a, b) => b.count - a.count || a.top - b.top || a.left - b.left)
      .slice(0, MAX_CHANGED_REGIONS)
      .map(({ left, top, right, bottom }) => ({ x: left, y: top, width: right - left + 1, height: bottom - top + 1 }))
  }

  /** The region of a cell and of all cells that touch it, which become taken. */
  #takeRegion(first: number, isTaken: Uint8Array): Region {
    const region: Region = { count: 0, left: this.width, top: this.height, right: 0, bottom: 0 }
    const waiting = [first]
    isTaken[first] = 1
    for (let cell = waiting.pop(); cell !== undefined; cell = waiting.pop()) {
      region.count += this.#counts[cell]!
      region.left = Math.min(region.left, this.#left[cell]!)
      region.top = Math.min(region.top, this.#top[cell]!)
      region.right = Math.max(region.right, this.#right[cell]!)
      region.bottom = Math.max(region.bottom, this.#bottom[cell]!)
      this.#takeNeighbors(cell, isTaken, waiting)
    }
    return region
  }

  /** Adds the cells that touch a cell, have changed pixels and are not taken. No arrays, because a picture has up to a million cells. */
  #takeNeighbors(cell: number, isTaken: Uint8Array, waiting: number[]): void {
    const column = cell % this.#columns
    const [first, last] = [column > 0 ? -1 : 0, column + 1 < this.#columns ? 1 : 0]
    for (let row = cell - this.#columns; row <= cell + this.#columns; row += this.#columns) {
      for (let other = row + first; other <= row + last; other++) {
        // Outside of the picture, there is no count.
        if (!this.#counts[other] || isTaken[other] !== 0) continue
        isTaken[other] = 1
        waiting.push(other)
      }
    }
  }
}
