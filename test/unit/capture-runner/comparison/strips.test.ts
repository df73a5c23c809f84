import pixelmatch from 'pixelmatch'
import t from 'tap'
import { type ComparisonSettings, forgiveOffsets } from '../../../../capture-runner/src/comparison/change-finder.ts'
import { ChangedPixels } from '../../../../capture-runner/src/comparison/changed-pixels.ts'
import { comparePictures } from '../../../../capture-runner/src/comparison/compare.ts'
import { CHANNELS, type DecodedPicture } from '../../../../capture-runner/src/comparison/decoded-picture.ts'
import { toIgnoreMask } from '../../../../capture-runner/src/comparison/ignore-mask.ts'

// Compares random pictures, and again by a plain implementation: pixelmatch on the whole pictures, and then one cell after the other.

const CELL = 8

/** The same numbers in each run, from 0 to `limit` - 1. */
let seed = 7
function random(limit: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((seed / 2 ** 32) * limit)
}

interface Pixels extends DecodedPicture {
  colors: Uint32Array
}

function toPicture(colors: Uint32Array, width: number, height: number, mayBeTransparent: boolean): Pixels {
  const bytes = Buffer.from(colors.buffer)
  return {
    ...{ colors, width, height, mayBeTransparent },
    async readRows(top, count, wanted, target = Buffer.allocUnsafeSlow(count * wanted * CHANNELS)) {
      for (let y = 0; y < count; y++)
        bytes.copy(target, y * wanted * CHANNELS, (top + y) * width * CHANNELS, ((top + y) * width + wanted) * CHANNELS)
      return target.subarray(0, count * wanted * CHANNELS)
    },
  }
}

/** Flat areas, noise, gradients and smooth edges, with few colors, so that neighbors are often equal. */
function draw(colors: Uint32Array, width: number, alphas: readonly number[]): void {
  const height = colors.length / width
  const palette = Array.from({ length: 6 }, () => (random(2 ** 24) | (alphas[random(alphas.length)]! << 24)) >>> 0)
  const [left, top] = [random(width), random(height)]
  const [right, bottom] = [Math.min(width, left + 1 + random(60)), Math.min(height, top + 1 + random(40))]
  const kind = random(4)
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      const at = y * width + x
      if (kind === 0) colors[at] = palette[0]!
      else if (kind === 1) colors[at] = palette[random(palette.length)]!
      else if (kind === 2) colors[at] = (palette[0]! & 0xff000000) | ((x * 0x020201 + y * 0x010102) & 0x00ffffff)
      else colors[at] = colors[at]! ^ (random(4) === 0 ? 0x070503 : 0x030303)
    }
  }
}

function comparePlainly(before: Pixels, after: Pixels, settings: ComparisonSettings): ChangedPixels {
  const { width, height } = before
  const mask = new Uint32Array(width * height)
  const ignored = toIgnoreMask(settings.ignored, { top: 0, width, height }) ?? new Uint8Array(width * height)
  const match = (a: Uint32Array, b: Uint32Array) => {
    const options = { threshold: settings.colorTolerance, includeAA: settings.antialiasing, diffMask: true, checkerboard: false }
    pixelmatch(bytesOf(a), bytesOf(b), bytesOf(mask), width, height, { ...options, ignoreMask: ignored })
  }
  match(before.colors, after.colors)
  const [a, b] = [before.colors.map(onBlack), after.colors.map(onBlack)]
  match(a, b)
  if (settings.forgivesOffsets) forgiveOffsets({ before: a, after: b, mask, width })
  const changed = new ChangedPixels(width, height)
  for (let top = 0; top < height; top += CELL) {
    for (let left = 0; left < width; left += CELL) {
      const all: number[] = []
      for (let y = top; y < Math.min(height, top + CELL); y++)
        for (let x = left; x < Math.min(width, left + CELL); x++) all.push(y * width + x)
      const add = (pixels: number[], kind: Uint8Array) => {
        for (const at of pixels) changed.add(left / CELL, Math.floor(at / width), 1 << ((at % width) - left), kind)
      }
      add(
        all.filter((at) => mask[at] !== 0),
        changed.strong,
      )
      const { slightLevels } = settings
      if (slightLevels === undefined) continue
      const levelAt = (at: number) => Math.max(...levelsOf(a[at]!, b[at]!).map(Math.abs))
      const slight = all.filter((at) => mask[at] === 0 && ignored[at] === 0 && levelAt(at) >= slightLevels.min)
      const sums = slight
        .map((at) => levelsOf(a[at]!, b[at]!))
        .reduce((sum, levels) => sum.map((value, n) => value + levels[n]!), [0, 0, 0, 0])
      const sum = slight.reduce((all, at) => all + levelAt(at), 0)
      const isWhole = slight.length >= all.length / 2 && Math.max(...sums.map(Math.abs)) >= sum / 2
      const isLike = (at: number, near: number) => a[at] === a[near] && b[at] === b[near]
      const isFlat = (at: number) => at % width > 0 && at >= width && [at - 1, at - width, at - width - 1].every((near) => isLike(at, near))
      const flat = isWhole && slightLevels.isLossy ? slight : slight.filter(isFlat)
      add(isWhole ? slight : flat, changed.slight)
      const cell = Math.floor(top / CELL) * changed.columns + left / CELL
      const visible = flat.reduce((all, at) => all + (Math.min(levelAt(at), slightLevels.max) / slightLevels.min) ** 2, 0)
      changed.visible[cell] = isWhole ? Math.max(slight.length, visible) : visible
    }
  }
  return changed
}

const bytesOf = (colors: Uint32Array): Uint8Array => new Uint8Array(colors.buffer)
const channelsOf = (color: number): number[] => [0, 8, 16, 24].map((shift) => (color >>> shift) & 0xff)
const levelsOf = (one: number, other: number): number[] => channelsOf(other).map((value, n) => value - channelsOf(one)[n]!)

function onBlack(color: number): number {
  const alpha = color >>> 24
  const channel = (shift: number) => Math.round((((color >>> shift) & 0xff) * alpha) / 255) << shift
  return (channel(0) | channel(8) | channel(16) | 0xff000000) >>> 0
}

const pixelsOf = (changed: ChangedPixels) => {
  const rows: number[][] = []
  for (let y = 0; y < changed.height; y++) changed.forRow(y, (...pixels) => rows.push([y, ...pixels]))
  return {
    count: changed.count,
    strong: [...changed.strong],
    slight: [...changed.slight],
    visible: [...changed.visible].map((value) => value.toFixed(1)),
    rows,
  }
}

t.test('comparePictures finds the pixels that pixelmatch finds in whole pictures', async (t) => {
  let [strong, slight] = [0, 0]
  for (let n = 0; n < 60; n++) {
    // Some pictures have more rows than a strip, and widths that are no multiple of a cell.
    const width = n % 10 === 0 ? 4_099 : 30 + random(120)
    const height = n % 10 === 0 ? 290 : 20 + random(90)
    const isTransparent = n % 3 === 2
    const alphas = isTransparent ? [255, 255, 128, 0] : [255]
    const first = new Uint32Array(width * height).fill(0xffffffff)
    for (let shape = 0; shape < 12; shape++) draw(first, width, alphas)
    const second = first.slice()
    for (let shape = 0; shape < 1 + random(6); shape++) draw(second, width, alphas)
    if (n % 7 === 3) for (let at = 0; at < second.length; at++) second[at] = (second[at]! ^ 0x00040404) >>> 0
    const settings: ComparisonSettings = {
      colorTolerance: [0, 0.1, 0.2][random(3)]!,
      antialiasing: random(3) === 0,
      ignored: random(2) === 0 ? [] : [{ x: random(width), y: random(height), width: 1 + random(50), height: 1 + random(30) }],
      slightLevels: [undefined, { min: 3, max: 255, isLossy: false }, { min: 8, max: 8, isLossy: true }][random(3)],
      forgivesOffsets: random(4) === 0,
    }
    const [before, after] = [toPicture(first, width, height, isTransparent), toPicture(second, width, height, isTransparent)]
    const wanted = comparePlainly(before, after, settings)
    const found = await comparePictures(before, after, settings, AbortSignal.timeout(60_000))
    const isEqual = JSON.stringify(pixelsOf(found)) === JSON.stringify(pixelsOf(wanted))
    t.ok(isEqual, `${width} × ${height}: ${found.count} of ${wanted.count} pixels with ${JSON.stringify(settings)}`)
    strong += wanted.strong.filter((count) => count > 0).length
    slight += wanted.slight.filter((count) => count > 0).length
  }
  t.ok(strong > 1_000 && slight > 100, `${strong} cells with strong changes, ${slight} with slight ones`)
})
