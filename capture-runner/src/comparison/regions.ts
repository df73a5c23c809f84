import type { PictureBox } from '@tintype/crds/kinds/comparison'
import { mergeOverlapping, unionOf, type WeightedBox } from './boxes.ts'
import type { ChangedPixels } from './changed-pixels.ts'
import { type InParts, Steps } from './in-turns.ts'

// Decides which changed pixels count (ADR 69). A region counts if it has a few pixels, or is a large area whose color changed a little, and if both
// loads of the page drew it in the same way. Pure functions, which run in parts.

/** Changed pixels from which a region counts: fewer can be the rounding of a smooth edge. */
export const MIN_PIXELS = 3
/** The same if a picture was compressed with loss. */
export const MIN_LOSSY_PIXELS = 8
/** Pixels of the smallest difference from which an area counts whose color changed by less than the tolerance: 32 × 32. */
const MIN_SLIGHT_PIXELS = 1_024
/** A region of which the loads differ in more pixels than this share is dropped whole: an 8 and a 0 share most strokes. */
const UNSTABLE_SHARE = 0.05
/** Cells around a difference of the loads that do not count if the rest of the region does. */
const UNSTABLE_REACH = 2
/** Cells within which regions are scattered over one area, such as the dots of a moving background. */
const AREA_CELLS = 8
/** Unstable regions from which an area is scattered. */
const MIN_SCATTERED = 3
/** Pairs of stable and unstable parts to compare with each other. A page with more changed as a whole. */
const MAX_PAIRS = 4_000_000
/** Pairs of parts to compare in search of lines: less than a second. */
const MAX_LINE_PAIRS = 20_000_000
/** Cells within which parts are one reported region, such as the words of a line. */
const REPORT_REACH = 2

/** Regions of changed pixels. */
export interface Regions {
  /** The largest change first. They do not overlap. */
  regions: PictureBox[]
  /** Number of changed pixels in them. */
  pixels: number
  /** For each cell: whether its pixels are in one of them. */
  isCounted: Uint8Array
  /** Whether there were too many for the search, so that more counts as changed, or several are one. */
  isLimited: boolean
}

/** The result for one pair of pictures: the regions that count, and those that do not, because the loads of the page differ there. */
export interface Evaluation extends Regions {
  dropped: Regions
  /** Whether only areas count whose color changed by less than the tolerance. */
  isSlight: boolean
}

/** How to evaluate a difference. */
interface RegionRules {
  /** Changed pixels from which a region counts. */
  minPixels: number
  /** Share of its box that must have changed; default: 0. */
  minFill?: number
  /** Whether no word changed on which the loads agree. */
  isSameText: boolean
}

/**
 * Evaluates the difference to the earlier picture.
 * @param between the difference of the two loads; absent: the page was loaded once
 */
export function* evaluateRegions(
  changed: ChangedPixels,
  between: ChangedPixels | undefined,
  { minPixels, minFill = 0, isSameText }: RegionRules,
): InParts<Evaluation> {
  const weights = yield* weigh(changed)
  const { isStable, isLimited } = between
    ? yield* findStable(changed, weights, { pixels: between, noise: yield* weigh(between), line: isSameText ? UNSTABLE_LINE : LINE })
    : { isStable: weights, isLimited: false }
  const counted = yield* findRegions(
    changed,
    weights,
    isStable,
    (pixels, { width, height }) => pixels >= minPixels && pixels >= minFill * width * height,
  )
  const isDropped = weights.map((weight, cell) => (isStable[cell] === 0 ? weight : 0))
  const strong = changed.strong.reduce((sum, pixels, cell) => sum + (counted.isCounted[cell] === 0 ? 0 : pixels), 0)
  const dropped = yield* findRegions(changed, weights, isDropped, () => true)
  return {
    ...counted,
    dropped,
    isSlight: counted.regions.length > 0 && strong < minPixels,
    isLimited: isLimited || counted.isLimited || dropped.isLimited || changed.isLimited || Boolean(between?.isLimited),
  }
}

/** Groups wanted cells to regions. */
function* findRegions(
  changed: ChangedPixels,
  weights: Uint8Array,
  wanted: Uint8Array,
  isWanted: (pixels: number, box: PictureBox) => boolean,
): InParts<Regions> {
  const isCounted = new Uint8Array(weights.length)
  const boxes: WeightedBox[] = []
  const steps = new Steps()
  for (const group of yield* groupCells(changed, REPORT_REACH, wanted)) {
    if (steps.add(GROUP_STEPS + CELL_STEPS * group.length)) yield
    const pixels = sumOf(group, weights)
    const box = boxOf(group, changed, weights)
    if (!isWanted(pixels, box)) continue
    for (const cell of group) isCounted[cell] = 1
    boxes.push({ ...box, pixels })
  }
  const pixels = boxes.reduce((sum, box) => sum + box.pixels, 0)
  const disjoint = yield* mergeOverlapping(boxes)
  const merged = disjoint ?? [{ ...boxes.reduce(unionOf, boxes[0]!), pixels }]
  merged.sort((one, other) => other.pixels - one.pixels || one.y - other.y || one.x - other.x)
  return {
    regions: merged.map(({ x, y, width, height }) => ({ x, y, width, height })),
    pixels,
    isCounted,
    isLimited: disjoint === undefined,
  }
}

/** Steps to read a group, and each of its cells. */
const GROUP_STEPS = 100
const CELL_STEPS = 20

const sumOf = (cells: Uint32Array, values: Uint8Array | Float32Array): number => {
  let sum = 0
  for (const cell of cells) sum += values[cell]!
  return sum
}

/** The changed pixels of each cell. Slightly changed ones count only in large areas. */
function* weigh(changed: ChangedPixels): InParts<Uint8Array> {
  const { strong, slight, visible } = changed
  const weights = strong.slice()
  const steps = new Steps()
  for (const group of yield* groupCells(changed, 1, slight)) {
    if (steps.add(GROUP_STEPS + group.length)) yield
    if (sumOf(group, visible) + sumOf(group, strong) < MIN_SLIGHT_PIXELS) continue
    for (const cell of group) weights[cell] = strong[cell]! + slight[cell]!
  }
  return weights
}

/** A part of the picture in which something differs. */
interface Part {
  cells: Uint32Array
  weight: number
  box: PictureBox
}

/** A part in which the loads differ. */
interface UnstablePart extends Part {
  /** Boxes and weights of its changed pixels, and of those in which the loads differ. */
  shapes: Pick<Part, 'box' | 'weight'>[]
}

interface Stable {
  /** For each cell: whether it has changed pixels, and both loads agree there. */
  isStable: Uint8Array
  isLimited: boolean
}

/** The difference of the loads. */
interface Between {
  pixels: ChangedPixels
  noise: Uint8Array
  line: Line
}

function* findStable(changed: ChangedPixels, weights: Uint8Array, { pixels: between, noise, line }: Between): InParts<Stable> {
  const isStable = new Uint8Array(weights.length)
  const isNearSpot = new Uint8Array(weights.length)
  const stable: Part[] = []
  const unstable: UnstablePart[] = []
  const steps = new Steps()
  const groups = yield* groupCells(
    changed,
    1,
    weights.map((weight, cell) => weight | noise[cell]!),
  )
  for (const cells of groups) {
    if (steps.add(GROUP_STEPS + CELL_STEPS * cells.length)) yield
    const [weight, disagreeing] = [sumOf(cells, weights), sumOf(cells, noise)]
    if (disagreeing > UNSTABLE_SHARE * weight) {
      const shapes = [
        ...(weight > 0 ? [{ box: boxOf(cells, changed, weights), weight }] : []),
        { box: boxOf(cells, between, noise), weight: disagreeing },
      ]
      unstable.push({ cells, weight, box: shapes.map(({ box }) => box).reduce(unionOf), shapes })
      continue
    }
    const spots = cells.filter((cell) => noise[cell] !== 0)
    for (const spot of spots) {
      forNear(changed, spot, UNSTABLE_REACH, (near) => (isNearSpot[near] = 1))
      if (steps.add(CELL_STEPS)) yield
    }
    for (const cell of cells) if (weights[cell] !== 0 && isNearSpot[cell] === 0) isStable[cell] = 1
    // Spots drop only cells of their own part.
    for (const spot of spots) {
      forNear(changed, spot, UNSTABLE_REACH, (near) => (isNearSpot[near] = 0))
      if (steps.add(CELL_STEPS)) yield
    }
    stable.push({ cells, weight, box: boxOf(cells, changed, weights) })
  }
  const doubtful = yield* findDoubtful(stable, unstable, line)
  for (const part of doubtful ?? []) for (const cell of part.cells) isStable[cell] = 0
  if (unstable.length >= MIN_SCATTERED) yield* dropScattered(changed, { weights, noise, isStable, unstable })
  return { isStable, isLimited: doubtful === undefined }
}

/**
 * Parts in which the loads agree by chance. They continue a line of which other parts are unstable, such as the digits of a counter. Or they have the
 * size of an unstable part: the loads show an element at random places, and both lack it where the earlier picture shows it. Undefined: too many pairs.
 */
function* findDoubtful(stable: readonly Part[], unstable: readonly UnstablePart[], line: Line): InParts<Set<Part> | undefined> {
  if (stable.length * unstable.length > MAX_PAIRS) return undefined
  const doubtful = new Set<Part>()
  const others = [...stable]
  const waiting: Part[] = [...unstable]
  const steps = new Steps()
  let pairs = 0
  for (let part = waiting.pop(); part; part = waiting.pop()) {
    pairs += others.length
    if (pairs > MAX_LINE_PAIRS) return undefined
    if (steps.add(others.length)) yield
    for (let index = others.length - 1; index >= 0; index--) {
      const other = others[index]!
      if (!isSameLine(part.box, other.box, line)) continue
      doubtful.add(other)
      waiting.push(other)
      // The last one, which was compared before, takes its place.
      others[index] = others.at(-1)!
      others.pop()
    }
  }
  for (const part of stable) {
    if (unstable.some(({ shapes }) => shapes.some((shape) => isSameSize(part, shape)))) doubtful.add(part)
    if (steps.add(unstable.length)) yield
  }
  return doubtful
}

/** What the parts of a line have in common, as shares of the larger height. */
interface Line {
  minHeight: number
  minOverlap: number
  /** Letters between two others may be the same by chance, such as the colon of a time. */
  maxGap: number
}

const LINE: Line = { minHeight: 0.7, minOverlap: 0.7, maxGap: 1.3 }
/** If no word changed on which the loads agree, a stroke of a letter can be a part, and the seconds of a time can be between two. */
const UNSTABLE_LINE: Line = { minHeight: 0.4, minOverlap: 0.4, maxGap: 4 }

/** Whether two boxes are as letters of a line: of about the same height, side by side, and near each other. */
function isSameLine(a: PictureBox, b: PictureBox, { minHeight, minOverlap, maxGap }: Line): boolean {
  const overlap = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
  // Most pairs end here.
  if (overlap <= 0) return false
  const [low, high] = [Math.min(a.height, b.height), Math.max(a.height, b.height)]
  const gap = Math.max(a.x, b.x) - Math.min(a.x + a.width, b.x + b.width)
  return overlap >= minOverlap * high && low >= minHeight * high && gap <= maxGap * high
}

const isSameSize = (a: Pick<Part, 'box' | 'weight'>, b: Pick<Part, 'box' | 'weight'>): boolean =>
  isNear(a.box.width, b.box.width, 0.05) && isNear(a.box.height, b.box.height, 0.05) && isNear(a.weight, b.weight, 0.15)

const isNear = (a: number, b: number, share: number): boolean => Math.abs(a - b) <= Math.max(1, share * Math.max(a, b))

interface Scattered {
  weights: Uint8Array
  noise: Uint8Array
  isStable: Uint8Array
  unstable: readonly Part[]
}

/**
 * Drops the stable cells of areas that the loads drew differently in many places. The earlier picture of a field of random dots has its own dots,
 * which both loads lack.
 */
function* dropScattered(grid: ChangedPixels, { weights, noise, isStable, unstable }: Scattered): InParts<void> {
  const columns = Math.ceil(grid.columns / AREA_CELLS)
  const rows = Math.ceil(grid.rows / AREA_CELLS)
  const areaOf = (cell: number) => Math.floor(cell / grid.columns / AREA_CELLS) * columns + Math.floor((cell % grid.columns) / AREA_CELLS)
  const [stable, differing] = [new Uint16Array(columns * rows), new Uint16Array(columns * rows)]
  for (let cell = 0; cell < weights.length; cell++) {
    if (isStable[cell] !== 0) stable[areaOf(cell)]! += weights[cell]!
    if (noise[cell] !== 0) differing[areaOf(cell)]! += noise[cell]!
  }
  yield
  const groups = yield* groupCells(
    { columns, rows },
    1,
    Uint8Array.from(stable, (pixels, area) => Number(pixels + differing[area]! > 0)),
  )
  const groupOf = new Uint32Array(columns * rows)
  for (const [index, group] of groups.entries()) for (const area of group) groupOf[area] = index
  const scattered = new Uint32Array(groups.length)
  for (const { cells } of unstable) scattered[groupOf[areaOf(cells[0]!)]!]!++
  const isDropped = groups.map((group, index) => {
    let [agreed, disagreed] = [0, 0]
    for (const area of group) {
      agreed += stable[area]!
      disagreed += differing[area]!
    }
    return scattered[index]! >= MIN_SCATTERED && disagreed >= agreed
  })
  for (let cell = 0; cell < weights.length; cell++) if (isStable[cell] !== 0 && isDropped[groupOf[areaOf(cell)]!]) isStable[cell] = 0
}

/** The box of the changed pixels of cells, of those with a weight. */
function boxOf(cells: Uint32Array, changed: ChangedPixels, weights: Uint8Array): PictureBox {
  let [left, top, right, bottom] = [changed.width, changed.height, 0, 0]
  for (const cell of cells) {
    if (weights[cell] === 0) continue
    const sides = changed.sidesOf(cell)
    left = Math.min(left, sides.left)
    top = Math.min(top, sides.top)
    right = Math.max(right, sides.right)
    bottom = Math.max(bottom, sides.bottom)
  }
  return { x: left, y: top, width: right - left + 1, height: bottom - top + 1 }
}

// Groups the cells of a grid that are near each other. Pure functions.

/** The grid of a picture. */
interface Grid {
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
function forNear({ columns, rows }: Grid, cell: number, reach: number, visit: (near: number) => void): void {
  const column = cell % columns
  const row = (cell - column) / columns
  const right = Math.min(columns - 1, column + reach)
  const bottom = Math.min(rows - 1, row + reach)
  for (let y = Math.max(0, row - reach); y <= bottom; y++) {
    for (let x = Math.max(0, column - reach); x <= right; x++) visit(y * columns + x)
  }
}
