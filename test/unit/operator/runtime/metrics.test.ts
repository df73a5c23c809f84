import { Registry } from 'prom-client'
import t from 'tap'
import { Store } from '../../../../crds/client/lister.ts'
import { derivedId } from '../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { Account } from '../../../../crds/src/kinds/account.ts'
import type { RunnerPool } from '../../../../crds/src/kinds/runner-pool.ts'
import type { CaptureResult, Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import { type CacheMetricsSources, createMetrics, registerCacheMetrics } from '../../../../operator/src/runtime/metrics.ts'
import { anAccount, aRunnerPool, aScreenshot, at, completedStatus } from '../../../support/fakes/builders.ts'

/** Values of the gauges for these objects at a time, as lines without comments. */
async function tell(
  { shots = [], accounts = [], pools = [] }: { shots?: Screenshot[]; accounts?: Account[]; pools?: RunnerPool[] },
  now: Date,
) {
  const screenshots = new Store<Screenshot>().addIndex('phase', ({ status }) => status?.phase ?? 'Pending')
  const [accountStore, poolStore] = [new Store<Account>(), new Store<RunnerPool>()]
  for (const shot of shots) screenshots.set(shot)
  for (const account of accounts) accountStore.set(account)
  for (const pool of pools) poolStore.set(pool)
  const reflectors = { screenshots: { lister: screenshots }, accounts: { lister: accountStore }, pools: { lister: poolStore } }
  const registry = new Registry()
  const sources = { reflectors, namespace: 'default', liveForMilliseconds: 3_600_000, now: () => now.getTime() }
  registerCacheMetrics(registry, sources as unknown as CacheMetricsSources)
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

const shotAt = (second: number, given: Parameters<typeof aScreenshot>[0] = {}): Screenshot =>
  aScreenshot({ name: toObjectName(derivedId('scr', at(second), JSON.stringify(given))), ...given })

t.test('registerCacheMetrics reports queue depth and age by pool and by plan of the account', async (t) => {
  const shots = [
    shotAt(0, { spec: { accountName: 'acme' } }),
    shotAt(5, { spec: { accountName: 'acme' } }),
    shotAt(7, { spec: { accountName: 'nobody', poolName: 'large' } }),
    shotAt(1, { status: completedStatus() }),
  ]
  const lines = await tell({ shots, accounts: [anAccount({ name: 'acme', spec: { plan: 'growth' } })] }, at(10))
  const depths = ['screenshot_queue_depth{pool="default",tier="growth"} 2', 'screenshot_queue_depth{pool="large",tier="none"} 1']
  const ages = ['default",tier="growth"} 10', 'large",tier="none"} 3'].map((of) => `screenshot_queue_oldest_seconds{pool="${of}`)
  for (const line of [...depths, ...ages]) t.ok(lines.includes(line), `${line} of ${lines.join('; ')}`)
})

t.test('registerCacheMetrics reports each condition of a pool and its maximum size', async (t) => {
  const why = { status: 'False' as const, reason: 'BrowserNotFenced', message: 'no' }
  const condition = { type: 'Sandboxed', ...why, lastTransitionTime: at(0).toISOString() }
  const lines = await tell({ pools: [aRunnerPool({ spec: { maxPods: 7 }, status: { conditions: [condition] } })] }, at(10))
  t.ok(lines.includes('screenshot_pool_condition{pool="default",type="Sandboxed",status="False",reason="BrowserNotFenced"} 1'))
  t.ok(lines.includes('screenshot_pool_max_pods{pool="default"} 7'))
})

t.test('registerCacheMetrics reports by how much the oldest record is overdue for archiving', async (t) => {
  const shots = [shotAt(0, { status: completedStatus() })]
  t.ok((await tell({ shots }, at(1_000))).includes('screenshot_retention_lag_seconds 0'))
  t.ok((await tell({ shots }, at(3_702))).includes('screenshot_retention_lag_seconds 100'))
  t.ok((await tell({}, at(0))).includes('screenshot_retention_lag_seconds 0'))
})

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
