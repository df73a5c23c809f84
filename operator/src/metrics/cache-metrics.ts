import { instrumentsOf } from '@tintype/crds/client/probe-server'
import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { poolOf } from '@tintype/crds/kinds/runner-pool'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import type { Registry } from 'prom-client'
import type { Reflectors } from '../kube/reflectors.ts'
import { PHASE_INDEX } from '../runner/runners.ts'

// Gauges that are computed from the informer caches at each scrape. The standby also has caches and reports the same values: use the
// maximum of the replicas, not their sum.

/** Sources of the gauges. */
export interface CacheMetricsSources {
  reflectors: Pick<Reflectors, 'screenshots' | 'pools' | 'accounts'>
  namespace: string
  /** Time after the end of a Screenshot by which its record should have been archived, in milliseconds. */
  liveForMilliseconds: number
  now: () => number
}

/** The tier of Screenshots whose Account does not exist. */
const NO_PLAN = 'none'

/** Registers the gauges. Call it once per process. */
export function registerCacheMetrics(registry: Registry, sources: CacheMetricsSources): void {
  watchQueue(registry, sources)
  watchPools(registry, sources)
  watchRetention(registry, sources)
}

/** The queued Screenshots of accounts with one plan in one pool. */
interface Queue {
  labels: { pool: string; tier: string }
  waiting: Screenshot[]
}

function findQueues({ reflectors, namespace }: CacheMetricsSources): Queue[] {
  const tierOf = (shot: Screenshot) => reflectors.accounts.lister.get(`${namespace}/${accountOf(shot)}`)?.spec.plan ?? NO_PLAN
  const queues = new Map<string, Queue>()
  for (const shot of reflectors.screenshots.lister.byIndex(PHASE_INDEX, 'Pending')) {
    const labels = { pool: poolOf(shot.spec), tier: tierOf(shot) }
    const key = `${labels.pool}/${labels.tier}`
    const queue = queues.get(key)
    if (queue) queue.waiting.push(shot)
    else queues.set(key, { labels, waiting: [shot] })
  }
  return [...queues.values()]
}

function watchQueue(registry: Registry, sources: CacheMetricsSources): void {
  // Each gauge computes its own value: metrics are collected concurrently, so a value that another gauge sets would be one scrape late.
  const add = (name: string, help: string, measure: (waiting: readonly Screenshot[]) => number) =>
    instrumentsOf(registry).computed(name, help, ['pool', 'tier'], (gauge) => {
      gauge.reset()
      for (const { labels, waiting } of findQueues(sources)) gauge.set(labels, measure(waiting))
    })
  const createdAt = ({ metadata }: Screenshot): number => createdAtOf(screenshotIdOf(metadata)).getTime()
  add('screenshot_queue_depth', 'Queued screenshots, by pool and plan of the account.', ({ length }) => length)
  add('screenshot_queue_oldest_seconds', 'Age of the oldest queued screenshot.', (waiting) => {
    const now = sources.now()
    return (now - waiting.reduce((first, shot) => Math.min(first, createdAt(shot)), now)) / 1_000
  })
}

function watchPools(registry: Registry, { reflectors }: CacheMetricsSources): void {
  const { computed } = instrumentsOf(registry)
  computed('screenshot_pool_max_pods', 'Maximum number of pods of the pool.', ['pool'], (gauge) => {
    gauge.reset()
    for (const { metadata, spec } of reflectors.pools.lister.list())
      if (spec.maxPods !== undefined) gauge.set({ pool: metadata.name }, spec.maxPods)
  })
  const help = '1 for the current status of each condition of the pool: Ready, Scaled, Sandboxed, Guarded, VideoReady.'
  computed('screenshot_pool_condition', help, ['pool', 'type', 'status', 'reason'], (gauge) => {
    gauge.reset()
    for (const { metadata, status } of reflectors.pools.lister.list())
      for (const { type, status: value, reason } of status?.conditions ?? [])
        gauge.set({ pool: metadata.name, type, status: value, reason }, 1)
  })
}

function watchRetention(registry: Registry, { reflectors, liveForMilliseconds, now }: CacheMetricsSources): void {
  const help = 'Seconds by which the oldest finished record in the Kubernetes API is overdue for archiving; 0: none is overdue.'
  instrumentsOf(registry).computed('screenshot_retention_lag_seconds', help, [], (gauge) => {
    const { lister } = reflectors.screenshots
    let first = Number.POSITIVE_INFINITY
    for (const phase of ['Completed', 'Failed']) {
      for (const { status } of lister.byIndex(PHASE_INDEX, phase))
        first = Math.min(first, Date.parse(status?.completionTime ?? '') || first)
    }
    gauge.set(Math.max(0, now() - first - liveForMilliseconds) / 1_000)
  })
}
