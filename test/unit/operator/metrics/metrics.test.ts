import t from 'tap'
import { createMetrics } from '../../../../operator/src/metrics/metrics.ts'

const counts = { idle: 1, busy: 0, queued: 0, replicas: 1 }

t.test('metrics report the build time of the oldest filter lists of a pool, and nothing before a runner has reported it', async (t) => {
  const { pool, registry } = createMetrics()
  const told = async () => (await registry.getSingleMetric('screenshot_pool_lists_timestamp_seconds')?.get())?.values ?? []
  pool.onStatus('default', { ...counts, listsUpdated: undefined })
  t.strictSame(await told(), [])
  pool.onStatus('default', { ...counts, listsUpdated: Date.parse('2026-03-20T14:01:36Z') })
  t.match(await told(), [{ labels: { pool: 'default' }, value: 1_774_015_296 }])
  pool.onPoolGone('default')
  t.strictSame(await told(), [])
})
