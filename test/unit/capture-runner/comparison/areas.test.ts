import { MAX_IGNORED_BOXES } from '@tintype/crds/kinds/comparison'
import t from 'tap'
import { mergeOverlapping, PAGE_FRAME, toBox, toBoxes, toIgnored } from '../../../../capture-runner/src/comparison/boxes.ts'
import { ChangeFinder } from '../../../../capture-runner/src/comparison/change-finder.ts'
import { ChangedPixels } from '../../../../capture-runner/src/comparison/changed-pixels.ts'
import { allocateRows, toPixels } from '../../../../capture-runner/src/comparison/decoded-picture.ts'
import { toIgnoreMask } from '../../../../capture-runner/src/comparison/ignore-mask.ts'
import { type InParts, inTurns } from '../../../../capture-runner/src/comparison/in-turns.ts'
import { compareSizes, isCanvasTooLarge } from '../../../../capture-runner/src/comparison/outside.ts'
import { groupCells } from '../../../../capture-runner/src/comparison/regions.ts'

const end = <T>(work: InParts<T>): Promise<T> => inTurns(work, AbortSignal.timeout(60_000))

const area = (x: number, y: number, width: number, height: number) => ({ x, y, width, height })

t.test('toBox contains every pixel that the area touches, and ends at the edges of the picture', async (t) => {
  t.strictSame(toBox(area(10.5, 20, 5, 5.2), PAGE_FRAME), area(10, 20, 6, 6))
  t.strictSame(toBox(area(10, 20, 5, 5), { x: 0, y: 0, scale: 2 }), area(20, 40, 10, 10))
  t.strictSame(toBox(area(95, 95, 10, 10), { x: 100, y: 100, scale: 1 }), area(0, 0, 5, 5))
  t.equal(toBox(area(10, 10, 20, 20), { x: 100, y: 0, scale: 1 }), undefined, 'left of the picture')
  t.strictSame(toBoxes([area(0, 0, 1, 1), area(-5, -5, 2, 2)], PAGE_FRAME), [area(0, 0, 1, 1)])
})

t.test('toIgnored keeps a limited number of boxes for each selector', async (t) => {
  const areas = Array.from({ length: MAX_IGNORED_BOXES + 1 }, (_, x) => area(x, 0, 1, 1))
  const [one, none] = toIgnored(
    [
      { selector: 'p', areas },
      { selector: 'q', areas: [] },
    ],
    PAGE_FRAME,
  )
  t.equal(one?.boxes.length, MAX_IGNORED_BOXES)
  t.strictSame(none, { selector: 'q', boxes: [] })
})

t.test('toIgnoreMask marks the pixels of the boxes in these rows', async (t) => {
  const rows = { top: 10, width: 4, height: 2 }
  t.equal(toIgnoreMask([], rows), undefined)
  t.equal(toIgnoreMask([area(0, 0, 4, 10), area(0, 12, 4, 1), area(4, 10, 9, 9)], rows), undefined, 'above, below and right of them')
  t.strictSame([...toIgnoreMask([area(1, 11, 99, 99)], rows)!], [0, 0, 0, 0, 0, 1, 1, 1])
  t.strictSame([...toIgnoreMask([area(0, 5, 2, 6), area(1, 10, 1, 2)], rows)!], [1, 1, 0, 0, 0, 1, 0, 0])
})

t.test('ChangedPixels counts pixels in cells of 8 × 8, with their sides and rows', async (t) => {
  const changed = new ChangedPixels(20, 18)
  changed.add(0, 3, 0b0001_0010, changed.strong)
  changed.add(0, 5, 0b1000_0000, changed.slight)
  changed.add(2, 17, 0b0000_1000, changed.strong)
  t.match(changed, { count: 4, columns: 3, rows: 3 })
  t.strictSame([...changed.strong], [2, 0, 0, 0, 0, 0, 0, 0, 1])
  t.strictSame([...changed.slight], [1, 0, 0, 0, 0, 0, 0, 0, 0])
  t.strictSame(changed.sidesOf(0), { left: 1, top: 3, right: 7, bottom: 5 })
  t.strictSame(changed.sidesOf(8), { left: 19, top: 17, right: 19, bottom: 17 })
  const found: [number, number, number][] = []
  for (const y of [3, 4, 17]) changed.forRow(y, (...pixels) => found.push(pixels))
  t.strictSame(found, [
    [0, 0b0001_0010, 0],
    [16, 0b0000_1000, 8],
  ])
})

t.test('groupCells does not join cells of the right edge with those of the left edge', async (t) => {
  const wanted = Uint8Array.of(0, 0, 1, 2, 0, 0, 0, 0, 255)
  const groups = async (reach: number) => (await end(groupCells({ columns: 3, rows: 3 }, reach, wanted))).map((group) => [...group])
  t.strictSame(await groups(1), [[2], [3], [8]])
  t.strictSame(await groups(2), [[2, 3, 8]])
  t.strictSame(await end(groupCells({ columns: 3, rows: 1 }, 1, new Uint8Array(3))), [])
})

t.test('mergeOverlapping merges boxes that overlap only after another merge', async (t) => {
  const box = (x: number, y: number, width: number, height: number) => ({ ...area(x, y, width, height), pixels: 1 })
  t.strictSame(await end(mergeOverlapping([box(0, 0, 5, 5), box(5, 0, 5, 5)])), [box(0, 0, 5, 5), box(5, 0, 5, 5)], 'neighbors')
  const chain = [box(0, 20, 4, 4), box(0, 0, 4, 10), box(3, 9, 20, 4), box(3, 12, 2, 9)]
  t.strictSame(await end(mergeOverlapping(chain)), [{ ...area(0, 0, 23, 24), pixels: 4 }])
})

const compareSizesOf = (...input: Parameters<typeof compareSizes>) => inTurns(compareSizes(...input), AbortSignal.timeout(60_000))

const WIDE = { width: 10, height: 2 }
const TALL = { width: 2, height: 10 }

t.test('isCanvasTooLarge allows a canvas as large as the largest picture', async (t) => {
  t.equal(isCanvasTooLarge({ width: 20_000, height: 10 }, { width: 10, height: 10_000 }), false)
  t.equal(isCanvasTooLarge({ width: 20_000, height: 10 }, { width: 10, height: 10_001 }), true)
})

t.test('compareSizes counts the pixels that only one picture has', async (t) => {
  const whole = { x: 0, y: 0, width: 10, height: 10 }
  t.strictSame(await compareSizesOf(WIDE, TALL, [], 0.001), {
    changed: true,
    changedPixels: 96,
    changedRatio: 0.96,
    sizeChanged: true,
    regions: [whole],
    regionCount: 1,
    rule: 'size',
  })
  t.match(await compareSizesOf(WIDE, TALL, [], 0.96), { changed: false, changedPixels: 96 }, 'up to the threshold')
  t.match(await compareSizesOf(WIDE, TALL, [{ ...whole, width: 99, height: 99 }], 0), { changed: false, changedPixels: 0, regions: [] })
})

t.test('compareSizes counts no ignored pixel, and none twice', async (t) => {
  const boxes = [
    { x: 1, y: 1, width: 3, height: 3 },
    { x: 3, y: 3, width: 2, height: 2 },
    { x: 3, y: 0, width: 1, height: 4 },
    { x: 9, y: 9, width: 5, height: 5 },
    { x: 50, y: 50, width: 5, height: 5 },
  ]
  const isIgnored = (x: number, y: number) => boxes.some((b) => x >= b.x && y >= b.y && x < b.x + b.width && y < b.y + b.height)
  const pixels = Array.from({ length: 100 }, (_, index) => [index % 10, Math.floor(index / 10)] as const)
  const counted = pixels.filter(([x, y]) => (x >= 2 || y >= 2) && !isIgnored(x, y)).length
  t.match(await compareSizesOf(WIDE, TALL, boxes, 0), { changedPixels: counted })
})

t.test('rows of few colors have the same changed pixels if they are compared in two passes', async (t) => {
  const [width, rows] = [120, 80]
  const draw = (seed: number) => {
    const buffer = allocateRows(rows, width)
    const pixels = toPixels(buffer)
    for (let at = 0; at < pixels.length; at++) {
      const mixed = Math.imul(at + 1, 0x9e3779b1 + 2 * seed)
      // Blocks with other pixels between them, so that some are beside an area of one color.
      pixels[at] = [0xffffffff, 0xff909090, 0xff000000][at % 9 < 5 ? Math.floor(at / 9) % 3 : ((mixed ^ (mixed >>> 15)) >>> 7) % 3]!
    }
    return buffer
  }
  const count = (maxSteps: number, antialiasing: boolean) => {
    const finder = new ChangeFinder({ colorTolerance: 0.1, antialiasing, ignored: [] }, { width, rows, isOpaque: true, maxSteps })
    const { mask } = finder.find([draw(1), draw(977)], { top: 0, bottom: rows, from: 0, width })
    return { changed: mask.filter((pixel) => pixel !== 0).length, isLimited: finder.isLimited }
  }
  const onePass = count(Number.POSITIVE_INFINITY, false)
  // Of 9,600 pixels. With a quarter of the steps, one pass would not end.
  t.strictSame(count(25_000, false), onePass)
  t.ok(count(25_000, true).changed > onePass.changed, 'some are smooth edges')
  t.match(count(1_000, false), { isLimited: true })
})
