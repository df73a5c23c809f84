import sharp from 'sharp'

// A perceptual hash per block of a picture, so that one missing line is detected. A block's hash is 9 bytes: a difference hash of 8 × 5 gray
// levels (Zauner, "Implementation and benchmarking of perceptual image hash functions"), the mean color, and the contrast.

/** The hash of a picture. */
export interface PictureHash {
  /** Pixels. */
  width: number
  height: number
  /** Rows of blocks, 12 base64url characters each; a block that is left out has dots. */
  rows: readonly string[]
}

/** How a picture differs from its reference. */
export interface Comparison {
  /** Blocks of the taller of the two pictures that are compared. */
  blocks: number
  /** Blocks that differ. */
  changed: number
  /** Top left corners of the blocks that differ, in pixels. */
  places: readonly { left: number; top: number }[]
}

/** Pixels of a block. */
export const BLOCK = { width: 240, height: 216 }
const HASH_CHARACTERS = 12
const HASH_BYTES = 9
/** A byte for each row of differences, three for the color, one for the contrast. */
const COLOR_BYTE = 5
const CONTRAST_BYTE = 8
const LEFT_OUT = '.'.repeat(HASH_CHARACTERS)
/** Columns and rows of gray levels that a block is reduced to: nine columns have eight differences. */
const GRID = { width: 9, height: 5 }
/** Gray levels, of 255: smaller steps are noise of the rasterizer. */
const STEP_LEVELS = 1
/** Maximum different bits, of 40, between equal blocks. */
const BITS = 2
/** Maximum difference of mean color and contrast, of 255 levels, between equal blocks. */
const LEVELS = 1.5
/** Maximum difference of heights in pixels. */
const HEIGHT_PIXELS = 2

/** Reads a picture of any format and size. @throws when it cannot be decoded */
export async function hashPicture(picture: Buffer | string): Promise<PictureHash> {
  const flat = sharp(picture, { limitInputPixels: false }).flatten({ background: '#fff' }).removeAlpha().toColorspace('srgb')
  const { data, info } = await flat.raw().toBuffer({ resolveWithObject: true })
  const rows: string[] = []
  for (let top = 0; top < info.height; top += BLOCK.height) {
    const blocks: string[] = []
    for (let left = 0; left < info.width; left += BLOCK.width) blocks.push(hashBlock(readCells(data, info, { left, top })))
    rows.push(blocks.join(''))
  }
  return { width: info.width, height: info.height, rows }
}

/** Mean colors of a block's cells, row by row. A block at an edge has smaller cells. */
function readCells(data: Buffer, picture: { width: number; height: number }, { left, top }: { left: number; top: number }): number[][] {
  const width = Math.min(BLOCK.width, picture.width - left)
  const height = Math.min(BLOCK.height, picture.height - top)
  const sums = Array.from({ length: GRID.width * GRID.height }, () => [0, 0, 0, 0])
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const sum = sums[Math.floor((y * GRID.height) / height) * GRID.width + Math.floor((x * GRID.width) / width)]!
      const offset = ((top + y) * picture.width + left + x) * 3
      for (let channel = 0; channel < 3; channel++) sum[channel]! += data[offset + channel]!
      sum[3]!++
    }
  }
  return sums.map(([red = 0, green = 0, blue = 0, count = 0]) => [red, green, blue].map((sum) => (count === 0 ? 0 : sum / count)))
}

function hashBlock(cells: readonly (readonly number[])[]): string {
  const gray = cells.map(([red = 0, green = 0, blue = 0]) => 0.299 * red + 0.587 * green + 0.114 * blue)
  const hash = Buffer.alloc(HASH_BYTES)
  for (let y = 0; y < GRID.height; y++) for (let x = 0; x < 8; x++) if (isBrighter(gray, y * GRID.width + x)) hash[y]! |= 1 << x
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  for (let channel = 0; channel < 3; channel++) hash[COLOR_BYTE + channel] = Math.round(mean(cells.map((cell) => cell[channel] ?? 0)))
  const middle = mean(gray)
  hash[CONTRAST_BYTE] = Math.min(255, Math.round(4 * Math.sqrt(mean(gray.map((level) => (level - middle) ** 2)))))
  return hash.toString('base64url')
}

const isBrighter = (gray: readonly number[], index: number): boolean => (gray[index + 1] ?? 0) - (gray[index] ?? 0) > STEP_LEVELS

/** Compares a picture with its reference. A block that only one of them has differs. */
export function compareHashes(reference: PictureHash, picture: PictureHash): Comparison {
  const places: { left: number; top: number }[] = []
  let blocks = 0
  const isAsTall = Math.abs(reference.height - picture.height) <= HEIGHT_PIXELS && reference.width === picture.width
  for (let row = 0; row < Math.max(reference.rows.length, picture.rows.length); row++) {
    const wanted = blocksOf(reference.rows[row])
    const seen = blocksOf(picture.rows[row])
    for (let column = 0; column < Math.max(wanted.length, seen.length); column++) {
      if (wanted[column] === LEFT_OUT) continue
      blocks++
      if (!looksAlike(wanted[column], seen[column])) places.push({ left: column * BLOCK.width, top: row * BLOCK.height })
    }
  }
  if (!isAsTall && places.length === 0) places.push({ left: 0, top: Math.min(reference.height, picture.height) })
  return { blocks, changed: places.length, places }
}

/** Excludes from a reference the blocks that differ in another picture of the same page. */
export function keepStillBlocks(first: PictureHash, second: PictureHash): PictureHash {
  const rows = first.rows.map((row, index) => {
    const others = blocksOf(second.rows[index])
    return blocksOf(row)
      .map((block, column) => (looksAlike(block, others[column]) ? block : LEFT_OUT))
      .join('')
  })
  return { ...first, rows }
}

const blocksOf = (row = ''): string[] => row.match(/.{12}/g) ?? []

function looksAlike(first: string | undefined, second: string | undefined): boolean {
  if (first === undefined || second === undefined) return false
  const [one, other] = [Buffer.from(first, 'base64url'), Buffer.from(second, 'base64url')]
  let bits = 0
  for (let index = 0; index < COLOR_BYTE; index++) bits += countBits(one[index]! ^ other[index]!)
  const levels = Array.from({ length: HASH_BYTES - COLOR_BYTE }, (_, index) =>
    Math.abs(one[COLOR_BYTE + index]! - other[COLOR_BYTE + index]!),
  )
  return bits <= BITS && levels.every((level) => level <= LEVELS)
}

const countBits = (value: number): number => value.toString(2).replaceAll('0', '').length
