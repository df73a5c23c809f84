import t from 'tap'
import { groupCells } from '../../../../capture-runner/src/comparison/cell-groups.ts'
import { ChangedPixels } from '../../../../capture-runner/src/comparison/changed-pixels.ts'
import { toIgnoreMask } from '../../../../capture-runner/src/comparison/ignore-mask.ts'
import { type InParts, inTurns } from '../../../../capture-runner/src/comparison/in-turns.ts'
import { mergeOverlapping } from '../../../../capture-runner/src/comparison/merge-boxes.ts'
import { PAGE_FRAME, toBox, toBoxes, toIgnored } from '../../../../capture-runner/src/comparison/to-boxes.ts'
import { MAX_IGNORED_BOXES } from '../../../../crds/src/kinds/comparison.ts'

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
