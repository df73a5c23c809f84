import type { RequestRecord } from '@tintype/crds/client/kube-http'
import { ignoredMetrics, instrumentsOf, reflectorMetrics } from '@tintype/crds/client/metrics'
import type { ReflectorMetrics } from '@tintype/crds/client/reflector'
import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Comparison } from '@tintype/crds/kinds/comparison'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { withDefaults } from '@tintype/crds/options/catalog'
import { FileFormat } from '@tintype/crds/options/output/image'
import type { IgnoredObjectsOptions } from '@tintype/crds/records/ignored-objects'
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { ControllerMetrics, LeaderElectionMetrics, WorkQueueMetrics } from '../controller-runtime/metrics.ts'
import type { WorkQueue } from '../controller-runtime/work-queue.ts'
import { clientMetrics, controllerMetrics, electionMetrics, queueMetrics, RECONCILE_BUCKETS, watchQueues } from './runtime-metrics.ts'

// All metrics of the operator, created once per process. The names for the controller runtime, the work queue, the client and the election
// are those of Go operators, so that their dashboards work. Label values come from closed sets: never an id, a URL or an account.

const WAIT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900]
const JOB_BUCKETS = [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 30, 60, 120, 300, 900]
/** Step names come from runners, so their number is limited. */
const MAX_STEPS = 64
const STEP_NAME = /^[a-z][a-zA-Z0-9_]{0,31}$/

/** Metric hooks of the Screenshot controller. */
export interface ScreenshotMetrics {
  onClaim(waitedMilliseconds: number): void
  onDispatch(outcome: string): void
  onUnclaim(reason: string): void
  /** Called when the captures of an account crashed too many runners. */
  onHeldBack(): void
  /** Called when a Screenshot finishes. */
  onFinished(shot: Screenshot): void
}

/** Metric hooks of the RunnerPool controllers. */
export interface PoolMetrics {
  /** @param listsUpdated epoch milliseconds of the oldest filter lists of the runners; undefined: no runner reports any */
  onStatus(pool: string, counts: { idle: number; busy: number; queued: number; replicas: number; listsUpdated: number | undefined }): void
  onPoolGone(pool: string): void
  onPodCreated(): void
  onPodDeleted(reason: string): void
  onRunnerIdentified(startupMilliseconds: number): void
}

/** Metrics of the reflectors, the API client, and the operator itself. */
export interface Metrics {
  registry: Registry
  controller: ControllerMetrics & WorkQueueMetrics
  election: LeaderElectionMetrics
  reflector: ReflectorMetrics
  screenshot: ScreenshotMetrics
  pool: PoolMetrics
  onRequest(record: RequestRecord): void
  onIgnored: IgnoredObjectsOptions['count']
  /** Reads the age gauges of these queues at each scrape. */
  watchQueues(queues: () => WorkQueue[]): void
  /** Reads the number of Screenshots in each phase at each scrape. */
  watchPhases(count: (phase: string) => number): void
}

/** Creates the registry and all metrics. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return {
    registry,
    controller: { ...queueMetrics(registry), ...controllerMetrics(registry) },
    election: electionMetrics(registry),
    reflector: reflectorMetrics(registry),
    screenshot: screenshotMetrics(registry),
    pool: poolMetrics(registry),
    onRequest: clientMetrics(registry),
    onIgnored: ignoredMetrics(registry),
    watchQueues: (queues) => watchQueues(registry, queues),
    watchPhases: (count) => watchPhases(registry, count),
  }
}

function watchPhases(registry: Registry, count: (phase: string) => number): void {
  instrumentsOf(registry).computed('screenshot_jobs', 'Screenshots in the Kubernetes API by phase.', ['phase'], (gauge) => {
    for (const phase of ['Pending', 'Running', 'Completed', 'Failed']) gauge.set({ phase }, count(phase))
  })
}

const COMPARISON_OUTCOMES = ['changed', 'unchanged', 'skipped'] as const

const outcomeOf = ({ changed, skipped }: Comparison): (typeof COMPARISON_OUTCOMES)[number] =>
  skipped === undefined ? (changed ? 'changed' : 'unchanged') : 'skipped'

function screenshotMetrics(registry: Registry): ScreenshotMetrics {
  const { counter, histogram } = instrumentsOf(registry)
  const wait = histogram('screenshot_queue_wait_seconds', 'Time from creation to the first claim.', WAIT_BUCKETS)
  const duration = histogram('screenshot_job_duration_seconds', 'Time from creation to the end.', JOB_BUCKETS, ['format', 'result'])
  const failures = counter('screenshot_failures_total', 'Failed screenshots by error code.', ['reason'])
  const steps = histogram('screenshot_steps_seconds', 'Time of each step of a capture.', RECONCILE_BUCKETS, ['step'])
  const outcomes = counter('screenshot_dispatches_total', 'Capture orders sent to runners, by outcome.', ['outcome'])
  const unclaims = counter('screenshot_unclaims_total', 'Claims that were released before a result, by reason.', ['reason'])
  const heldBack = counter(
    'screenshot_accounts_held_back_total',
    'Times that the concurrency of an account was limited because its captures crashed too many runners.',
  )
  const comparisons = counter(
    'screenshot_comparisons_total',
    'Comparisons with an earlier picture, by outcome: changed, unchanged, or skipped because the picture does not show the page.',
    ['outcome'],
  )
  for (const outcome of COMPARISON_OUTCOMES) comparisons.inc({ outcome }, 0)
  const known = new Set<string>()
  const isStep = (step: string) => known.has(step) || (known.size < MAX_STEPS && STEP_NAME.test(step) && known.add(step).has(step))
  return {
    onClaim: (milliseconds) => wait.observe(Math.max(0, milliseconds) / 1_000),
    onDispatch: (outcome) => outcomes.inc({ outcome }),
    onUnclaim: (reason) => unclaims.inc({ reason }),
    onHeldBack: () => heldBack.inc(),
    onFinished({ metadata, spec, status }) {
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

function poolMetrics(registry: Registry): PoolMetrics {
  const { counter, gauge, histogram } = instrumentsOf(registry)
  const ofPool = (name: string, help: string) => gauge(name, help, ['pool'])
  const idle = ofPool('screenshot_pool_idle_runners', 'Idle runners.')
  const busy = ofPool('screenshot_pool_busy_runners', 'Busy runners.')
  const queued = ofPool('screenshot_pool_queued', 'Queued screenshots of the pool.')
  const replicas = ofPool('screenshot_pool_pods', 'Existing pods.')
  const lists = ofPool('screenshot_pool_lists_timestamp_seconds', 'Time at which the oldest filter lists of the pool’s runners were built.')
  const created = counter('screenshot_pool_pods_created_total', 'Pods created.')
  const deleted = counter('screenshot_pool_pods_deleted_total', 'Pods deleted, by reason.', ['reason'])
  const startup = histogram('screenshot_pod_startup_seconds', 'Time from the creation of a pod until it can capture.', JOB_BUCKETS)
  return {
    onStatus(pool, counts) {
      idle.set({ pool }, counts.idle)
      busy.set({ pool }, counts.busy)
      queued.set({ pool }, counts.queued)
      replicas.set({ pool }, counts.replicas)
      if (counts.listsUpdated !== undefined) lists.set({ pool }, counts.listsUpdated / 1_000)
    },
    onPoolGone(pool) {
      for (const gauge of [idle, busy, queued, replicas, lists]) gauge.remove({ pool })
    },
    onPodCreated: () => created.inc(),
    onPodDeleted: (reason) => deleted.inc({ reason }),
    onRunnerIdentified: (milliseconds) => startup.observe(milliseconds / 1_000),
  }
}
