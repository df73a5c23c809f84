import t from 'tap'
import type { CaptureResult } from '../../../../crds/src/kinds/screenshot.ts'
import { createMetrics } from '../../../../operator/src/metrics/metrics.ts'
import { aScreenshot, completedStatus } from '../../../support/fakes/builders.ts'

const counts = { idle: 1, busy: 0, queued: 0, replicas: 1 }

t.test('metrics report the build time of the oldest filter lists of a pool, and nothing before a runner has reported it', async (t) => {
  const { pool, registry } = createMetrics()
  const told = async () => (await registry.getSingleMetric('screenshot_pool_lists_timestamp_seconds')?.get())?.values ?? []
  pool.onStatus('default', counts, undefined)
  t.strictSame(await told(), [])
  pool.onStatus('default', counts, Date.parse('2026-03-20T14:01:36Z'))
  t.match(await told(), [{ labels: { pool: 'default' }, value: 1_774_015_296 }])
  pool.onPoolGone('default')
  t.strictSame(await told(), [])
})

t.test('metrics count comparisons by outcome, from 0', async (t) => {
  const { screenshot, registry } = createMetrics()
  const counted = async () => {
    const { values = [] } = (await registry.getSingleMetric('screenshot_comparisons_total')?.get()) ?? {}
    return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]))
  }
  t.strictSame(await counted(), { changed: 0, unchanged: 0, skipped: 0 })
  const finish = (result: CaptureResult) => screenshot.onFinished(aScreenshot({ status: completedStatus({ result }) }))
  finish({ comparison: { changed: true } })
  finish({ comparison: { changed: false } })
  finish({ comparison: { changed: false, skipped: 'blank' } })
  finish({})
  t.strictSame(await counted(), { changed: 1, unchanged: 1, skipped: 1 })
})
