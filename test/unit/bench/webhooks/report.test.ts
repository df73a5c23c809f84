import t from 'tap'
import type { DeliverySample } from '../../../bench/webhooks/deliver.ts'
import { deliveriesTable, fromResultTable } from '../../../bench/webhooks/report.ts'

const aRound = (round: number, perSecond: number, added: number): DeliverySample => ({
  round,
  perSecond,
  connections: 32,
  processorMilliseconds: 0.5,
  alone: [2, 4, 10],
  besideHanging: [2 + added, 4 + added, 10 + added],
  load: 1,
})

t.test('deliveriesTable shows each round, and the difference that the hanging endpoint makes', async (t) => {
  const { rows } = deliveriesTable([aRound(1, 1_200, 30)])
  t.strictSame(rows[0], ['1', '1200', '0.50', '32', '4', '9', '39', '+30', '1.0'])
})

t.test('deliveriesTable ends with the medians of the rounds', async (t) => {
  const { rows, head } = deliveriesTable([aRound(1, 1_000, 0), aRound(2, 3_000, -4), aRound(3, 2_000, 50)])
  t.match(rows.at(-1), { 0: 'median', 1: '2000', 7: '0' })
  t.ok(rows.every((row) => row.length === head.length))
})

t.test('fromResultTable shows median and p95 of each round, and their medians', async (t) => {
  const { rows } = fromResultTable([
    { round: 1, milliseconds: [10, 20, 30], load: 1 },
    { round: 2, milliseconds: [30, 40, 50], load: 2 },
  ])
  t.strictSame(rows, [
    ['1', '20', '29', '1.0'],
    ['2', '40', '49', '2.0'],
    ['median', '30', '39', '1.5'],
  ])
})
