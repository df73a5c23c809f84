import t from 'tap'
import type { LinkRound, LinkSample } from '../../../bench/links/measure.ts'
import { linksTable } from '../../../bench/links/report.ts'

const aSample = (count: number, gateways: number): LinkSample => ({
  milliseconds: Array.from({ length: count }, (_, index) => index + 1),
  totalMilliseconds: 1_000,
  statuses: {},
  processor: { clients: 0.1, gateways, 'API server': 0, etcd: 0 },
})

const aRound = (round: number, count: number, gateways: number): LinkRound => ({
  round,
  requests: {
    GET: aSample(count, gateways),
    HEAD: aSample(2 * count, gateways),
    304: aSample(3 * count, gateways),
    'POST /screenshots': aSample(1, 1.5),
  },
  load: round,
})

t.test('linksTable shows the medians of the rounds for each kind of request', async (t) => {
  const { rows, head } = linksTable([aRound(1, 101, 0.2), aRound(2, 301, 0.4), aRound(3, 201, 0.3)])
  for (const row of rows) t.equal(row.length, head.length)
  t.strictSame(rows[0], ['GET /take', '201', '101.0', '199.0', '0.30', '0.10', '2.0'])
  t.strictSame(
    rows.map(([name, rate]) => [name, rate]),
    [
      ['GET /take', '201'],
      ['HEAD /take', '402'],
      ['GET /take with If-None-Match (304)', '603'],
      ['POST /screenshots', '1'],
    ],
  )
})
