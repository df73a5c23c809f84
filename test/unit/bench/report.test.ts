import t from 'tap'
import { parseUse } from '../../bench/memory.ts'
import { burstTable, medianTable, sequentialTable, shortName } from '../../bench/report/report.ts'
import { replaceFigures } from '../../bench/report/write-figures.ts'

const PAGE = 'http://docs.sites.svc.cluster.local/en-US/apt.html'

const aSample = (round: number, bare: number[], product: number[]) => ({
  round,
  page: PAGE,
  bare,
  library: bare,
  product,
  withRequest: product,
  shots: [],
  album: { loop: ['a'], product: ['a'] },
  repeated: 0,
  load: 1,
})

t.test('shortName keeps the first label and the path', async (t) => {
  t.equal(shortName(PAGE), 'docs…/en-US/apt.html')
})

t.test('medianTable shows the median of the differences of the rounds', async (t) => {
  const samples = [aSample(1, [100], [110]), aSample(2, [200], [250]), aSample(3, [100], [190])]
  const [row] = medianTable('', samples).rows
  t.strictSame(row?.slice(0, 5), ['docs…/en-US/apt.html', '100', '100', '190', '+50'])
})

t.test('sequentialTable has a row for each round', async (t) => {
  const { rows } = sequentialTable('', [aSample(1, [100], [110]), aSample(2, [200], [150])])
  t.strictSame(
    rows.map((row) => row[6]),
    ['+10', '-50'],
  )
})

t.test('burstTable shows screenshots per second', async (t) => {
  const { rows } = burstTable(
    [{ round: 1, screenshots: 50, bareMilliseconds: 10_000, productMilliseconds: 20_000, prints: { [PAGE]: { loop: 'a', product: 'a' } } }],
    2,
  )
  t.strictSame(rows, [
    ['1', '5.0', '2.5', '50 %'],
    ['median', '5.0', '2.5', '50 %', 'same'],
  ])
})

t.test('parseUse reads resident and charged memory', async (t) => {
  t.strictSame(parseUse('Name:\tnode\nVmRSS:\t  102400 kB\ncharged: 52428800\n'), { residentMebibytes: 100, chargedMebibytes: 50 })
})

t.test('replaceFigures changes only the text between the marks', async (t) => {
  const marks = ['<!-- figures: written by `npm run bench -- --write` -->', '<!-- end of figures -->']
  t.equal(replaceFigures(`before\n${marks[0]}\nold\n${marks[1]}\nafter`, 'new'), `before\n${marks[0]}\n\nnew\n\n${marks[1]}\nafter`)
  t.throws(() => replaceFigures('no marks', 'new'))
})
