import t from 'tap'
import { median, percentile, summarize } from '../../bench/report/statistics.ts'
import { undoing } from '../../bench/report/undo.ts'
import { parseProcessor } from '../../bench/rest/processor.ts'

t.test('parseProcessor adds user and system time for any process name', async (t) => {
  const rest = 'S 1 2 3 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 11 0 1000'
  t.equal(parseProcessor(`42 (node) ${rest}`), 3_000)
  t.equal(parseProcessor(`42 (a (strange) name) ${rest}`), 3_000)
})

t.test('percentile interpolates linearly between two values', async (t) => {
  const table: [values: number[], percent: number, wanted: number][] = [
    [[7], 95, 7],
    [[1, 2], 50, 1.5],
    [[4, 1, 3, 2, 5], 50, 3],
    [[4, 1, 3, 2, 5], 0, 1],
    [[4, 1, 3, 2, 5], 100, 5],
    [[0, 10], 95, 9.5],
    [[1, 2, 3], 150, 3],
    [[1, 2, 3], -1, 1],
  ]
  for (const [values, percent, wanted] of table) t.equal(percentile(values, percent), wanted, `p${percent} of ${values}`)
})

t.test('percentile is NaN without values', async (t) => {
  t.ok(Number.isNaN(percentile([], 50)))
})

t.test('median compares numerically and does not change the list', async (t) => {
  const values = [10, 9, 100]
  t.equal(median(values), 10)
  t.strictSame(values, [10, 9, 100])
})

t.test('summarize returns median, p95 and count', async (t) => {
  t.strictSame(summarize([1, 2, 3, 4, 5]), { count: 5, p50: 3, p95: 4.8 })
})

t.test('undoing undoes after the action and returns its result', async (t) => {
  const steps: string[] = []
  const undo = async () => steps.push('undone')
  t.equal(await undoing(undo, async () => steps.push('done')), 1)
  t.strictSame(steps, ['done', 'undone'])
})

t.test('undoing undoes after a failed action and rethrows its error', async (t) => {
  const steps: string[] = []
  const failing = undoing(
    async () => steps.push('undone'),
    async () => {
      throw new Error('the act')
    },
  )
  await t.rejects(failing, { message: 'the act' })
  t.strictSame(steps, ['undone'])
})
