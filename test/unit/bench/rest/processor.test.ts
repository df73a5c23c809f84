import t from 'tap'
import { parseProcessor, totalOf } from '../../../bench/rest/processor.ts'

t.test('parseProcessor adds user and system time for any process name', async (t) => {
  const rest = 'S 1 2 3 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 11 0 1000'
  t.equal(parseProcessor(`42 (node) ${rest}`), 3_000)
  t.equal(parseProcessor(`42 (a (strange) name) ${rest}`), 3_000)
})

t.test('totalOf sums the time of all processes', async (t) => {
  t.equal(totalOf({ clients: 1, gateways: 2, 'API server': 3, etcd: 4 }), 10)
})
