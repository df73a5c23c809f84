import { ignoredMetrics, instrumentsOf, reflectorMetrics, requestMetrics, SECONDS_BUCKETS } from '@tintype/crds/client/probe-server'
import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Comparison } from '@tintype/crds/kinds/comparison'
import { poolOf } from '@tintype/crds/kinds/runner-pool'
import { Phase, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { withDefaults } from '@tintype/crds/options/catalog'
import { FileFormat } from '@tintype/crds/options/output/formats'
import { accountOf } from '@tintype/crds/records/record'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { createRuntimeMetrics } from '../controller-runtime/metrics.ts'
import type { Reflectors } from '../kube/reflectors.ts'
import { PHASE_INDEX } from '../runner/runners.ts'

// The metrics of the operator, created once per process. Controllers with metrics of their own create them in their folder. Label values come
// from closed sets: never an id, a URL or an account.

const WAIT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900]
const JOB_BUCKETS = [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 30, 60, 120, 300, 900]
/** Step names come from runners, so their number is limited. */
const MAX_STEPS = 64
const STEP_NAME = /^[a-z][a-zA-Z0-9_]{0,31}$/

export type Metrics = ReturnType<typeof createMetrics>
export type ScreenshotMetrics = Metrics['screenshot']
export type PoolMetrics = Metrics['pool']

/** Creates the registry and all metrics. */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return {
    registry,
    runtime: createRuntimeMetrics(registry),
    reflector: reflectorMetrics(registry),
    screenshot: screenshotMetrics(registry),
    pool: poolMetrics(registry),
    onRequest: requestMetrics(registry),
    onIgnored: ignoredMetrics(registry),
  }
}

/** Registers the number of Screenshots in each phase, which is read at each scrape. */
export function watchPhases(registry: Registry, count: (phase: Phase) => number): void {
  instrumentsOf(registry).computed('screenshot_jobs', 'Screenshots in the Kubernetes API by phase.', ['phase'], (gauge) => {
    for (const phase of Phase.options) gauge.set({ phase }, count(phase))
  })
}

const COMPARISON_OUTCOMES = ['changed', 'unchanged', 'skipped'] as const

const outcomeOf = ({ changed, skipped }: Comparison): (typeof COMPARISON_OUTCOMES)[number] =>
  skipped === undefined ? (changed ? 'changed' : 'unchanged') : 'skipped'

function screenshotMetrics(registry: Registry) {
  const { counter, histogram } = instrumentsOf(registry)
  const duration = histogram('screenshot_job_duration_seconds', 'Time from creation to the end.', JOB_BUCKETS, ['format', 'result'])
  const failures = counter('screenshot_failures_total', 'Failed screenshots by error code.', ['reason'])
  const steps = histogram('screenshot_steps_seconds', 'Time of each step of a capture.', SECONDS_BUCKETS, ['step'])
  const comparisons = counter(
    'screenshot_comparisons_total',
    'Comparisons with an earlier picture, by outcome: changed, unchanged, or skipped because the picture does not show the page.',
    ['outcome'],
  )
  for (const outcome of COMPARISON_OUTCOMES) comparisons.inc({ outcome }, 0)
  const known = new Set<string>()
  const isStep = (step: string) => known.has(step) || (known.size < MAX_STEPS && STEP_NAME.test(step) && known.add(step).has(step))
  return {
    waitSeconds: histogram('screenshot_queue_wait_seconds', 'Time from creation to the first claim.', WAIT_BUCKETS),
    dispatches: counter('screenshot_dispatches_total', 'Capture orders sent to runners, by outcome.', ['outcome']),
    unclaims: counter('screenshot_unclaims_total', 'Claims that were released before a result, by reason.', ['reason']),
    heldBack: counter(
      'screenshot_accounts_held_back_total',
      'Times that the concurrency of an account was limited because its captures crashed too many runners.',
    ),
    /** Counts a Screenshot that finished. */
    onFinished({ metadata, spec, status }: Screenshot) {
      const milliseconds = Date.parse(status?.completionTime ?? '') - createdAtOf(screenshotIdOf(metadata)).getTime()
      const format = FileFormat.parse(withDefaults(spec.options).format)
      const labels = { format, result: status?.phase === 'Completed' ? 'completed' : 'failed' }
      if (milliseconds >= 0) duration.observe(labels, milliseconds / 1_000)
      if (status?.result?.comparison) comparisons.inc({ outcome: outcomeOf(status.result.comparison) })
      if (status?.result?.error) failures.inc({ reason: status.result.error.code })
      for (const [step, taken] of Object.entries(status?.result?.timings ?? {})) if (isStep(step)) steps.observe({ step }, taken / 1_000)
    },
  }
}

function poolMetrics(registry: Registry) {
  const { counter, gauge, histogram } = instrumentsOf(registry)
  const ofPool = (name: string, help: string) => gauge(name, help, ['pool'])
  const gauges = {
    idle: ofPool('screenshot_pool_idle_runners', 'Idle runners.'),
    busy: ofPool('screenshot_pool_busy_runners', 'Busy runners.'),
    queued: ofPool('screenshot_pool_queued', 'Queued screenshots of the pool.'),
    replicas: ofPool('screenshot_pool_pods', 'Existing pods.'),
  }
  const lists = ofPool('screenshot_pool_lists_timestamp_seconds', 'Time at which the oldest filter lists of the pool’s runners were built.')
  return {
    podsCreated: counter('screenshot_pool_pods_created_total', 'Pods created.'),
    podsDeleted: counter('screenshot_pool_pods_deleted_total', 'Pods deleted, by reason.', ['reason']),
    startupSeconds: histogram('screenshot_pod_startup_seconds', 'Time from the creation of a pod until it can capture.', JOB_BUCKETS),
    /** @param listsUpdated epoch milliseconds of the oldest filter lists of the runners; undefined: no runner reports any */
    onStatus(pool: string, counts: { [Name in keyof typeof gauges]?: number | undefined }, listsUpdated: number | undefined) {
      for (const name of Object.keys(gauges) as (keyof typeof gauges)[]) gauges[name].set({ pool }, counts[name] ?? 0)
      if (listsUpdated !== undefined) lists.set({ pool }, listsUpdated / 1_000)
    },
    onPoolGone(pool: string) {
      for (const gauge of [...Object.values(gauges), lists]) gauge.remove({ pool })
    },
  }
}

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
