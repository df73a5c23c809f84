import t from 'tap'
import { findClusterProblem } from '../../bench/find-cluster.ts'
import { describeStore } from '../../bench/report/machine.ts'
import { median, percentile, summarize } from '../../bench/report/statistics.ts'
import { renderTable, toCell, toDifference } from '../../bench/report/table.ts'
import { undoing } from '../../bench/report/undo.ts'
import { parseProcessor, totalOf } from '../../bench/rest/processor.ts'
import { CAPTURE_PARTS, ENGINE_PARTS } from '../../bench/settings.ts'
import { paths } from '../../cluster/host/state.ts'

const NO_CLUSTER = 'no cluster responds; run npm start first, or set TINTYPE_CLUSTER=current'
const responds = async (code: number) => ({ code, stdout: '', stderr: 'The connection to the server was refused' })

t.test('findClusterProblem is one line when kubectl fails', async (t) => {
  t.equal(await findClusterProblem(CAPTURE_PARTS, () => responds(1)), NO_CLUSTER)
})

t.test('findClusterProblem is one line when the cluster was never started', async (t) => {
  t.equal(await findClusterProblem(['hostile'], () => Promise.reject(new Error('.tintype/env is missing'))), NO_CLUSTER)
})

t.test('findClusterProblem is undefined when the API server is ready', async (t) => {
  t.equal(await findClusterProblem(['sequential'], () => responds(0)), undefined)
})

t.test('findClusterProblem does not call kubectl for parts that need no cluster', async (t) => {
  t.equal(await findClusterProblem(ENGINE_PARTS, () => Promise.reject(new Error('called'))), undefined)
})

t.test('parseProcessor adds user and system time for any process name', async (t) => {
  const rest = 'S 1 2 3 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 11 0 1000'
  t.equal(parseProcessor(`42 (node) ${rest}`), 3_000)
  t.equal(parseProcessor(`42 (a (strange) name) ${rest}`), 3_000)
})

t.test('totalOf sums the time of all processes', async (t) => {
  t.equal(totalOf({ clients: 1, gateways: 2, 'API server': 3, etcd: 4 }), 10)
})

t.test('describeStore reports whether the local cluster’s etcd waits for the disk', async (t) => {
  const etcd = ['/usr/bin/etcd', '--data-dir', paths.etcd]
  t.match(describeStore([['sh'], etcd]), /waits for the disk at each write/)
  t.match(describeStore([['sh'], [...etcd, '--unsafe-no-fsync']]), /does not wait/)
})

t.test('describeStore reports an unknown durability when the local cluster has no etcd', async (t) => {
  t.match(describeStore([['etcd', '--data-dir', '/var/lib/other']]), /unknown durability/)
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

t.test('renderTable aligns numbers to the right and words to the left', async (t) => {
  const text = renderTable({
    title: 'Times',
    head: ['page', 'ms'],
    rows: [
      ['a', '5'],
      ['longer', '+1234'],
    ],
  })
  t.equal(text, ['**Times**', '', '| page   |    ms |', '| ------ | ----: |', '| a      |     5 |', '| longer | +1234 |'].join('\n'))
})

t.test('renderTable leaves the cell of a missing value empty', async (t) => {
  t.match(renderTable({ title: '', head: ['a', 'b'], rows: [['x']] }), /\| x {3}\| {5}\|/)
})

t.test('toCell rounds milliseconds and is empty for missing values', async (t) => {
  t.strictSame([1.4, 1.6, Number.NaN].map(toCell), ['1', '2', ''])
})

t.test('toDifference always has a sign', async (t) => {
  t.strictSame([3.2, -3.2, 0, -0.2, Number.NaN].map(toDifference), ['+3', '-3', '+0', '+0', ''])
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
