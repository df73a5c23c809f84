import t from 'tap'
import type { CreateSample, Way } from '../../../bench/rest/creates.ts'
import { parseResident } from '../../../bench/rest/memory.ts'
import { createsTable, createTimesTable, floodsTable, gatewayMemoryTable, processorTable, readsTable } from '../../../bench/rest/report.ts'

/** Sample of `count` requests that take 10 ms each, and `totalMilliseconds` together. */
const aWay = (count: number, totalMilliseconds: number, processor = 1): Way => ({
  milliseconds: Array.from({ length: count }, () => 10),
  totalMilliseconds,
  statuses: {},
  processor: { clients: processor, gateways: 0, 'API server': processor, etcd: 0 },
})

const aRound = (round: number, gateways: number, single: Way): CreateSample => ({
  round,
  gateways,
  bare: aWay(1_000, 1_000),
  unwatched: aWay(1_000, 500),
  single,
  batch: aWay(10, 2_000),
  batches: aWay(10, 1_250),
  load: 1,
})

t.test('createsTable counts the screenshots of batches, and compares each method with the bare creates of its round', async (t) => {
  const { rows } = createsTable([aRound(1, 1, aWay(1_000, 2_000))])
  t.strictSame(rows[0], ['one gateway', '1', '1000', '500', '0.50', '500', '0.50', '800', '0.80', '1.0'])
})

t.test('createsTable can also compare with bare creates that have no watcher', async (t) => {
  const { title, rows } = createsTable([aRound(1, 1, aWay(1_000, 2_000))], 'unwatched')
  t.match(title, /without watches/)
  t.strictSame(rows[0]?.slice(2, 5), ['2000', '500', '0.25'])
})

t.test('createsTable ends the rounds of each number of gateways with their medians', async (t) => {
  const slow = aWay(1_000, 4_000)
  const { rows } = createsTable([aRound(1, 1, slow), aRound(1, 3, slow), aRound(2, 3, aWay(1_000, 2_000)), aRound(3, 3, slow)])
  t.strictSame(
    rows.map((row) => row.slice(0, 2)),
    [
      ['one gateway', '1'],
      ['one gateway', 'median'],
      ['3 gateways', '1'],
      ['3 gateways', '2'],
      ['3 gateways', '3'],
      ['3 gateways', 'median'],
    ],
  )
  t.equal(rows.at(-1)?.[4], '0.25')
})

t.test('createTimesTable and processorTable have a row for each method and number of gateways', async (t) => {
  const samples = [aRound(1, 1, aWay(10, 10, 2)), aRound(1, 3, aWay(10, 10, 4))]
  t.equal(createTimesTable(samples).rows.length, 10)
  const { rows } = processorTable(samples)
  t.strictSame(rows[2], ['POST', 'one gateway', '2.00', '0.00', '2.00', '0.00', '4.00', '0.50'])
  t.strictSame(rows[7]?.slice(-2), ['8.00', '0.25'])
})

t.test('readsTable shows reads per second', async (t) => {
  t.strictSame(readsTable([{ round: 1, reads: aWay(8_000, 4_000), load: 2 }]).rows, [
    ['1', '2000', '10', '10', '2.0'],
    ['median', '2000', '10', '10', '2.0'],
  ])
})

t.test('floodsTable separates the writes of creates from all others', async (t) => {
  const refused = aWay(100, 1_000)
  const writes = new Map([
    ['leases', 2],
    ['accountusages', 3],
  ])
  const { rows } = floodsTable([
    { limit: 'quota', refused, writes: new Map() },
    { limit: 'rate', refused, writes },
  ])
  t.strictSame(rows[0], ['quota', '100', '100', '10', '10', '0', '0', ''])
  t.strictSame(rows[1], ['rate', '100', '100', '10', '10', '0', '3', '2 leases'])
})

t.test('parseResident reads the current and the peak memory of a process', async (t) => {
  const memory = parseResident('Name:\tnode\nVmHWM:\t  204800 kB\nVmRSS:\t  102400 kB\n')
  t.strictSame(memory, { residentMebibytes: 100, peakMebibytes: 200 })
  t.strictSame(gatewayMemoryTable([{ when: 'now', ...memory }]).rows, [['now', '100', '200']])
})
