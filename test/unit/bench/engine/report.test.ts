import t from 'tap'
import { CORPUS_PATHS } from '../../../bench/engine/corpus.ts'
import type { Lane } from '../../../bench/engine/measure.ts'
import { barTable, growthTables, rateTable, tallTables } from '../../../bench/engine/report.ts'

const lane = (name: string, lanes: number, rates: number[], processor: number[] = []): Lane => ({
  name,
  lanes,
  rates,
  processor,
  odd: 1,
  pictures: 20,
})
const figures = {
  lanes: [
    lane('bare loop', 1, [4, 2, 4], [300, 310, 320]),
    lane('bare loop', 4, [5, 4, 8]),
    lane('runner', 1, [5, 2.4, 4]),
    lane('runner', 4, [6, 3.6, 7], [330, Number.NaN, 340]),
    lane('bare loop, page.screenshot()', 1, [4, 1, 3]),
  ],
  answers: [],
  load: [2, 4, 3],
}

t.test('barTable compares each runner with the loop of the same round', async (t) => {
  const { rows } = barTable(figures)
  t.strictSame(
    rows.map(([, rounds, median, bar, met]) => [rounds, median, bar, met]),
    [
      ['1.25 1.20 1.00', '1.20', '≥ 1.1', 'yes'],
      ['1.20 0.90 0.88', '0.90', '≥ 0.95', '**no**'],
      ['1.25 2.40 1.33', '1.33', '≥ 1.3', 'yes'],
    ],
  )
})

t.test('rateTable leaves unknown processor times out', async (t) => {
  const { rows, title } = rateTable(figures)
  t.match(title, 'load of the machine: 3.0')
  t.strictSame(rows[3], ['runner', '4', '6.00', '3.60', '7.00', '335', '1 of 20'])
})

t.test('tallTables splits the time by step, and shows whether browser and runner stayed below their limits', async (t) => {
  const timings = { navigate: 100, sweep: 500, metadata: 10, screenshot: 2_000, upload: 200 }
  const sample = {
    height: 50_000,
    format: 'png',
    milliseconds: 2_850,
    timings,
    processorMilliseconds: 3_000,
    rest: 300,
    runner: 200,
    isWhole: true,
  }
  const [times, memory] = tallTables([
    { ...sample, peak: 1_100 },
    { ...sample, peak: 1_200, isWhole: false },
  ])
  t.strictSame(times?.head.slice(4), ['navigate', 'sweep', 'screenshot', 'upload', 'processor'])
  t.strictSame(times?.rows[0], ['50000', 'png', 'yes', '2850', '100', '500', '2000', '200', '3000'])
  t.equal(times?.rows[1]?.[2], '**no**')
  t.strictSame(
    memory?.rows.map((row) => row.at(-1)),
    ['yes', '**no**'],
  )
})

t.test('growthTables reports flat memory when it grows by less than a tenth from the second third to the last', async (t) => {
  const points = (last: number) => [100, 300, last].map((all, index) => ({ captures: (index + 1) * 50, runner: 90, all }))
  const titles = growthTables([
    { title: 'a', points: points(320) },
    { title: 'b', points: points(400) },
  ]).map(({ title }) => title)
  t.match(titles, [/flat/, /growing/])
})

t.test('the corpus has a hundred pages, and its first four pages contain every script', async (t) => {
  t.equal(new Set(CORPUS_PATHS).size, 100)
  t.equal(new Set(CORPUS_PATHS.slice(0, 4).map((path) => path.split('/')[1])).size, 4)
})
