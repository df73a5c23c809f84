import t from 'tap'
import { ChangedPixels } from '../../../../capture-runner/src/comparison/changed-pixels.ts'
import { toIgnoreMask } from '../../../../capture-runner/src/comparison/ignore-mask.ts'
import { PAGE_FRAME, toBox, toBoxes, toIgnored } from '../../../../capture-runner/src/comparison/to-boxes.ts'
import { MAX_CHANGED_REGIONS, MAX_IGNORED_BOXES } from '../../../../crds/src/kinds/comparison.ts'

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

t.test('ChangedPixels joins nearby pixels to regions, the one with most pixels first', async (t) => {
  const changed = new ChangedPixels(200, 100)
  for (const [x, y] of [
    [10, 10],
    [20, 30],
    [150, 90],
    [151, 90],
    [199, 99],
  ] as const)
    changed.addRow(y, x, x + 1, () => true)
  t.equal(changed.count, 5)
  t.ok(changed.has(10, 10) && !changed.has(11, 10) && changed.hasInRow(10) && !changed.hasInRow(11))
  t.strictSame(changed.findRegions(), [area(10, 10, 11, 21), area(150, 90, 2, 1), area(199, 99, 1, 1)])
})

t.test('ChangedPixels does not join pixels of the right edge with those of the left edge', async (t) => {
  const changed = new ChangedPixels(64, 64)
  changed.addRow(0, 0, 64, (x) => x === 63)
  changed.addRow(16, 0, 64, (x) => x === 0)
  t.strictSame(changed.findRegions(), [area(63, 0, 1, 1), area(0, 16, 1, 1)])
})

t.test('ChangedPixels limits the number of regions', async (t) => {
  const changed = new ChangedPixels(32 * 30, 10)
  for (let n = 0; n < 30; n++) changed.addRow(0, n * 32, n * 32 + 1, () => true)
  t.equal(changed.findRegions().length, MAX_CHANGED_REGIONS)
  t.strictSame(new ChangedPixels(10, 10).findRegions(), [])
})
