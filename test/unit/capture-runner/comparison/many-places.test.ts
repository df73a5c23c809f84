import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { mergeOverlapping } from '../../../../capture-runner/src/comparison/boxes.ts'
import { CELL, ChangedPixels } from '../../../../capture-runner/src/comparison/changed-pixels.ts'
import { comparePictures } from '../../../../capture-runner/src/comparison/compare.ts'
import { decide, evaluate } from '../../../../capture-runner/src/comparison/decide.ts'
import { allocateRows, type DecodedPicture, toPixels } from '../../../../capture-runner/src/comparison/decoded-picture.ts'
import { fillIgnoreMask } from '../../../../capture-runner/src/comparison/ignore-mask.ts'
import { type InParts, inTurns } from '../../../../capture-runner/src/comparison/in-turns.ts'
import { compareSizes } from '../../../../capture-runner/src/comparison/outside.ts'
import { BLACK, Drawing } from '../../../support/drawing.ts'

// Pictures that differ in so many places that comparing all of them with each other would take minutes. Counts parts of the work, not time.

const [FULL, RIGHT_HALF] = [0xff, 0xf0]

/** A page of bars like letters, in lines of 120. Both loads show them, except for the first one of some lines, which is narrower. */
function counters(height: number, isCounter: (line: number) => boolean) {
  const [changed, between] = [new ChangedPixels(1_920, height), new ChangedPixels(1_920, height)]
  for (let line = 0; (line + 1) * 3 * CELL <= height; line++) {
    for (let y = line * 3 * CELL; y < (line * 3 + 2) * CELL; y++) {
      for (let column = 2; column < changed.columns; column += 2) changed.add(column, y, FULL, changed.strong)
      if (isCounter(line)) between.add(0, y, RIGHT_HALF, between.strong)
    }
  }
  return { changed, between }
}

async function partsOf<T>(work: InParts<T>): Promise<{ parts: number; result: T }> {
  let parts = 0
  for (;;) {
    const part = work.next()
    if (part.done) return { parts, result: part.value }
    parts++
  }
}

const SETTINGS = { threshold: undefined, noise: 'none' } as const

/** Counts the turns of the event loop until it is stopped. */
function countTurns(): { stop: () => number } {
  let turns = 0
  const count = () => {
    turns++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  return {
    stop: () => {
      clearImmediate(next)
      return turns
    },
  }
}

t.test('bars like letters blocked the runner for minutes', async (t) => {
  const { changed, between } = counters(25_000, (line) => line % 50 === 0)
  const { parts, result } = await partsOf(evaluate(changed, between, SETTINGS))
  t.ok(parts < 500, `${parts} parts`)
  t.ok(result.isLimited)
  t.match(decide(changed, result, SETTINGS), { changed: true, rule: 'regions', changedPixels: changed.count })
})

t.test('control: lines of which the loads differ in a part are dropped', async (t) => {
  const { changed, between } = counters(2_400, (line) => line % 20 === 0)
  const { result } = await partsOf(evaluate(changed, between, SETTINGS))
  t.notOk(result.isLimited)
  t.equal(result.dropped.pixels, (changed.count / 100) * 5, '5 of 100 lines')
})

t.test('a capture was not canceled while its comparison searched for moving parts, and the event loop stood still', async (t) => {
  const { changed, between } = counters(25_000, (line) => line < 10)
  const { parts } = await partsOf(evaluate(changed, between, SETTINGS))
  const counter = countTurns()
  await inTurns(evaluate(changed, between, SETTINGS), AbortSignal.timeout(60_000))
  const turns = counter.stop()
  t.ok(parts > 50 && turns >= parts - 1, `${turns} turns of the event loop in ${parts} parts`)
  const cancel = new AbortController()
  const work = evaluate(changed, between, SETTINGS)
  let done = 0
  const counted = (function* () {
    for (let part = work.next(); ; part = work.next()) {
      if (part.done) return part.value
      done++
      yield
    }
  })()
  setImmediate(() => setImmediate(() => cancel.abort(new Error('canceled'))))
  await t.rejects(inTurns(counted, cancel.signal), { message: 'canceled' })
  t.ok(done < 10, `canceled in part ${done} of ${parts}`)
})

/** Boxes of which each overlaps only with all below it as a whole. */
const tower = (count: number) => [
  { x: 0, y: count * 20, width: 104, height: 26, pixels: 1 },
  ...Array.from({ length: count }, (_, n) => ({ x: (n % 2) * 64, y: (count - 1 - n) * 20, width: 40, height: 26, pixels: 1 })),
]

t.test('boxes that overlap one after the other blocked the runner', async (t) => {
  const all = { x: 0, y: 0, width: 104, height: 50 * 20 + 26, pixels: 51 }
  t.strictSame((await partsOf(mergeOverlapping(tower(50)))).result, [all])
  const dots = Array.from({ length: 40_000 }, (_, n) => ({
    x: 200 + (n % 50) * 24,
    y: Math.floor(n / 50) * 24,
    width: 8,
    height: 8,
    pixels: 4,
  }))
  t.equal((await partsOf(mergeOverlapping(dots))).result?.length, 40_000, 'control')
  const { parts, result } = await partsOf(mergeOverlapping([...dots, ...tower(900)]))
  t.equal(result, undefined)
  t.ok(parts < 200, `${parts} parts`)
})

t.test('regions that take too long to merge are one region with all their pixels', async (t) => {
  const changed = new ChangedPixels(3_000, 26_000)
  const add = (x: number, y: number, pixels: number) => changed.add(x / CELL, y, pixels, changed.strong)
  // Slanted lines whose boxes overlap as those of the tower do, and dots beside them.
  for (let n = 0; n < 500; n++) for (let step = 0; step < 6; step++) add((n % 2) * 96 + step * CELL, 25_959 - n * 40 - step * CELL, FULL)
  for (let step = 0; step < 30; step++) add(step * CELL, 25_990 - Math.floor(step * 1.5), FULL)
  for (let y = 0; y < 26_000; y += 48) for (let x = 400; x < 3_000; x += 32) add(x, y, FULL)
  const { parts, result } = await partsOf(evaluate(changed, undefined, SETTINGS))
  t.ok(parts < 500, `${parts} parts`)
  t.ok(result.isLimited)
  t.match(decide(changed, result, SETTINGS), { changed: true, regionCount: 1, changedPixels: changed.count })
})

/** A picture on disk: each read takes a turn of the event loop. */
const picture = (colorAt: (x: number, y: number) => number, mayBeTransparent = false, height = 600): DecodedPicture => ({
  ...{ width: 1_000, height, mayBeTransparent },
  async readRows(top, count, width, target = allocateRows(count, width)) {
    const rows = target.subarray(0, count * width * 4)
    const pixels = toPixels(rows)
    for (let at = 0; at < pixels.length; at++) pixels[at] = colorAt(at % width, top + Math.floor(at / width))
    await nextTurn()
    return rows
  },
})

const noiseAt = (x: number, y: number, seed: number): number => {
  const mixed = Math.imul((y * 1_000 + x + 1) ^ (seed * 0x5bd1e995), 0x9e3779b1)
  return Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b)
}
const OPAQUE = 0xff000000
const inkIf = (is: boolean): number => (is ? OPAQUE : 0xffffffff)

/** Kinds of pictures of which almost each pixel differs. `seed`: 0 or 1. */
const DENSE: Record<string, (x: number, y: number, seed: number) => number> = {
  noise: (x, y, seed) => noiseAt(x, y, seed) | OPAQUE,
  'transparent noise': noiseAt,
  'noise that moved by a pixel': (x, y, seed) => noiseAt(x + seed, y, 0) | OPAQUE,
  'noise of two colors': (x, y, seed) => inkIf(((noiseAt(x, y, seed) >>> 9) & 1) === 1),
  'one color and noise': (x, y, seed) => (seed === 0 ? 0xff804020 : noiseAt(x, y, 1) | OPAQUE),
  'a checkerboard of 1 pixel': (x, y, seed) => inkIf((x + y + seed) % 2 === 0),
  'a checkerboard of 3 pixels': (x, y, seed) => inkIf((Math.floor(x / 3) + Math.floor(y / 3) + seed) % 2 === 0),
  'bars of 3 pixels': (x, _, seed) => inkIf(Math.floor((x + 2 * seed) / 3) % 2 === 0),
  'alternating rows': (_, y, seed) => inkIf((y + seed) % 2 === 0),
  'diagonal stripes': (x, y, seed) => inkIf(Math.floor((x + y + 3 * seed) / 4) % 2 === 0),
  moiré: (x, y, seed) => (Math.round(127 + 127 * Math.sin((x * x + y * y) / (1_000 + 37 * seed))) * 0x010101) | OPAQUE,
}

t.test('pictures of noise and of fine patterns blocked the runner, because all pixels were searched for smooth edges', async (t) => {
  const settings = { colorTolerance: 0.1, antialiasing: false, ignored: [], slightLevels: { min: 3, max: 255, isLossy: false } }
  for (const [name, colorAt] of Object.entries(DENSE)) {
    const [before, after] = [0, 1].map((seed) => picture((x, y) => colorAt(x, y, seed) >>> 0, name.startsWith('transparent')))
    const counter = countTurns()
    const changed = await comparePictures(before!, after!, settings, AbortSignal.timeout(60_000), before, 100_000)
    const turns = counter.stop()
    t.ok(turns >= 6, `${name}: ${turns} turns of the event loop in 0.6 megapixels`)
    t.ok(changed.isLimited && changed.count > 150_000, `${name}: ${changed.count} pixels`)
    const { parts, result } = await partsOf(evaluate(changed, changed, SETTINGS))
    t.ok(parts < 500 && result.regions.length === 0, `${name}: two loads that differ`)
    t.match(decide(changed, (await partsOf(evaluate(changed, undefined, SETTINGS))).result, SETTINGS), { changed: true }, name)
  }
})

t.test('control: thousands of small parts are searched as a whole', async (t) => {
  const sparse: typeof DENSE = {
    dots: (x, y, seed) => inkIf((noiseAt(x, y, seed) >>> 9) % 1_000 === 0),
    boxes: (x, y, seed) => inkIf(x % 12 < 6 && y % 12 < 6 && (Math.floor(x / 12) * 31 + Math.floor(y / 12) * 17 + seed * 5) % 3 > 0),
    'text of 3 pixels': (x, y, seed) =>
      inkIf(x % 4 < 3 && y % 5 < 3 && (noiseAt(Math.floor(x / 4), Math.floor(y / 5), seed) & (1 << ((x % 4) * 3 + (y % 5)))) !== 0),
  }
  for (const [name, colorAt] of Object.entries(sparse)) {
    const [before, after] = [0, 1].map((seed) => picture((x, y) => colorAt(x, y, seed)))
    const settings = { colorTolerance: 0.1, antialiasing: false, ignored: [] }
    const changed = await comparePictures(before!, after!, settings, AbortSignal.timeout(60_000))
    t.ok(!changed.isLimited && changed.count > 1_000, `${name}: ${changed.count} pixels`)
    const { parts } = await partsOf(evaluate(changed, undefined, SETTINGS))
    t.ok(parts < 500, `${name}: ${parts} parts`)
  }
})

t.test('smooth edges are searched for up to a limit', async (t) => {
  const settings = { colorTolerance: 0.1, antialiasing: false, ignored: [] }
  const signal = AbortSignal.timeout(60_000)
  const [before, after] = [0, 0.4].map((offset) => new Drawing(600, 600).ring(300 + offset, 300, 200, 12, BLACK)) as [Drawing, Drawing]
  const searched = await comparePictures(before, after, settings, signal)
  const limited = await comparePictures(before, after, settings, signal, before, 100)
  const plain = await comparePictures(before, after, { ...settings, antialiasing: true }, signal)
  t.match([searched.isLimited, limited.isLimited, plain.isLimited], [false, true, false])
  t.ok(searched.count < limited.count && limited.count === plain.count, `${searched.count}, ${limited.count}, ${plain.count}`)
  t.ok((await partsOf(evaluate(limited, undefined, SETTINGS))).result.isLimited)
})

t.test('thousands of ignored boxes, one in another, were drawn one after the other', async (t) => {
  let filled = 0
  class Mask extends Uint8Array {
    override fill(...values: Parameters<Uint8Array['fill']>): this {
      filled++
      return super.fill(...values)
    }
  }
  const boxes = Array.from({ length: 5_000 }, (_, n) => ({ x: n % 7, y: 10 + (n % 11), width: 90, height: 80 }))
  const mask = new Mask(100 * 100)
  fillIgnoreMask(mask, boxes, { top: 0, width: 100, height: 100 })
  t.ok(filled < 10, `${filled} times`)
  const { parts, result } = await partsOf(compareSizes({ width: 20_000, height: 1 }, { width: 1, height: 20_000 }, boxes, 0))
  t.ok(parts < 10)
  t.equal(20_000 ** 2 - 1 - result.changedPixels!, mask.filter((value) => value !== 0).length, 'the same pixels')
})

const EXACT = { colorTolerance: 0, antialiasing: true, ignored: [] }

/** A picture of one color. Records the bytes of the largest read. */
const aPicture = (width: number, height: number): DecodedPicture & { largest: number } => ({
  width,
  height,
  mayBeTransparent: false,
  largest: 0,
  async readRows(_top, count, wanted) {
    this.largest = Math.max(this.largest, count * width * 4)
    return Buffer.alloc(count * wanted * 4, 200)
  },
})

t.test('a wide and a tall picture blocked the event loop of the runner', async (t) => {
  const counter = countTurns()
  const { count } = await comparePictures(aPicture(3_000, 10), aPicture(10, 3_000), EXACT, AbortSignal.timeout(60_000))
  const turns = counter.stop()
  t.equal(count, 3_000 * 3_000 - 100)
  t.ok(turns > 10, `${turns} turns of the event loop`)
})

t.test('a narrow picture made the runner read thousands of rows of a wide one at once', async (t) => {
  const wide = aPicture(20_000, 2_000)
  await comparePictures(wide, aPicture(10, 2_000), EXACT, AbortSignal.timeout(60_000))
  t.ok(wide.largest < 8_000_000, `${wide.largest} bytes`)
})

t.test('comparePictures ends with its signal, between two strips and while it counts what only one picture has', async (t) => {
  const [before, after] = [0, 1].map((seed) => picture((x, y) => (noiseAt(x, y, seed) | OPAQUE) >>> 0, false, 3_000))
  const pairs: [DecodedPicture, DecodedPicture][] = [
    [before!, after!],
    [aPicture(3_000, 10), aPicture(10, 3_000)],
  ]
  for (const pair of pairs) {
    const cancel = new AbortController()
    const comparing = comparePictures(...pair, EXACT, cancel.signal)
    setImmediate(() => cancel.abort(new Error('canceled')))
    await t.rejects(comparing, { message: 'canceled' })
  }
})
