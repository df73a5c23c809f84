import t from 'tap'
import type { LighthouseRun } from '../../../bench/console/lighthouse.ts'
import type { ListFigures } from '../../../bench/console/list.ts'
import { batchTable, browsersTable, lighthouseTable, listTable } from '../../../bench/console/report.ts'

const aRun = (performance: number, shift: number): LighthouseRun => ({
  performance,
  bestPractices: 100,
  firstPaint: 1_200,
  largestPaint: 1_500,
  blocking: 10,
  shift,
})

t.test('lighthouseTable shows the medians of the runs of a page', async (t) => {
  const runs = [aRun(90, 0.2), aRun(99, 0), aRun(97, 0.01)]
  const { rows, head } = lighthouseTable([{ page: 'usage', device: 'mobile', runs, loads: [1, 3, 2] }])
  t.strictSame(rows, [['usage', 'mobile', '97', '100', '1200', '1500', '10', '0.010', '2.0']])
  t.equal(rows[0]?.length, head.length)
})

t.test('listTable shows each step, and the first page in its title', async (t) => {
  const aList = (firstPage: number, p95: number): ListFigures => ({
    firstPage,
    samples: [
      {
        records: 100,
        frames: { count: 600, p50: 16.7, p95, most: 40 },
        processor: { renderer: 255, gpu: 40 },
        heapMebibytes: 3.14,
        nodes: 900,
      },
    ],
  })
  const { title, rows, head } = listTable([aList(300, 17), aList(500, 30), aList(400, 18)], { thumbnailBytes: 10_240, loads: [1, 2, 3] })
  t.match(title, 'first page 400 ms with thumbnails of 10 KiB, load 2.0')
  t.strictSame(rows, [['100', '16.7', '18.0', '40', '255', '40', '3.1', '900']])
  t.equal(rows[0]?.length, head.length)
})

t.test('batchTable and browsersTable show what was measured', async (t) => {
  t.strictSame(batchTable([{ appeared: 2.04, filled: 5.5, reloads: 0 }]).rows, [['1', '2.0', '5.5', '0']])
  t.strictSame(browsersTable([{ when: 'before', residentMebibytes: 120.4, peakMebibytes: 130.6 }]).rows, [['before', '120', '131']])
})
