import t from 'tap'
import { toRegion, withinWindow } from '../../../../capture-runner/src/picture/region.ts'

const page = { contentWidth: 1_000, contentHeight: 5_000, scrollX: 0, scrollY: 200 }
const box = (x: number, y: number, width: number, height: number) => ({ x, y, width, height })

t.test('toRegion rounds the box to whole pixels', async (t) => {
  t.strictSame(toRegion([box(10.4, 20.6, 100.2, 50)], 0, page), box(10, 20, 101, 51))
  t.strictSame(toRegion([box(10.001, 20.001, 100, 50)], 0, page), box(10, 20, 100, 50), 'except for rounding errors')
})

t.test('toRegion joins boxes and adds padding', async (t) => {
  t.strictSame(toRegion([box(100, 100, 50, 50), box(300, 400, 10, 20)], 5, page), box(95, 95, 220, 330))
})

t.test('toRegion ends at the end of the page', async (t) => {
  t.strictSame(toRegion([box(5, 4_990, 990, 100)], 20, page), box(0, 4_970, 1_000, 30))
  t.strictSame(toRegion([box(2_000, 10, 100, 100)], 0, page), box(2_000, 10, 1, 100), 'and is never empty')
})

t.test('withinWindow returns the visible part of a region', async (t) => {
  const window = { width: 800, height: 600 }
  t.strictSame(withinWindow(box(0, 0, 1_000, 1_000), window, page), box(0, 200, 800, 600))
  t.strictSame(withinWindow(box(10, 300, 20, 20), window, page), box(10, 300, 20, 20))
  t.equal(withinWindow(box(0, 0, 100, 200), window, page), undefined)
})
