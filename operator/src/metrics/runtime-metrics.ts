import type { RequestRecord } from '@tintype/crds/client/kube-http'
import type { ReflectorMetrics } from '@tintype/crds/client/reflector'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { ControllerMetrics, LeaderElectionMetrics, WorkQueueMetrics } from '../controller-runtime/metrics.ts'
import type { WorkQueue } from '../controller-runtime/work-queue.ts'

// Metrics of the parts that are independent of kinds, with the names that Go operators use, so that their dashboards work.

/** Buckets of times between a millisecond and a minute, in seconds. */
export const RECONCILE_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const QUEUE_BUCKETS = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100]

/** Where a metric is registered. */
export type Register = { registers: Registry[] }

/** workqueue_… */
export function queueMetrics(registry: Registry): WorkQueueMetrics {
  const on: Register = { registers: [registry] }
  const labelNames = ['name', 'controller'] as const
  const adds = new Counter({ name: 'workqueue_adds_total', help: 'Keys added.', labelNames, ...on })
  const depth = new Gauge({ name: 'workqueue_depth', help: 'Queued keys.', labelNames: [...labelNames, 'priority'], ...on })
  const queued = new Histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'Time that a key was queued.',
    labelNames,
    buckets: QUEUE_BUCKETS,
    ...on,
  })
  const work = new Histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'Time that a key was processed.',
    labelNames,
    buckets: QUEUE_BUCKETS,
    ...on,
  })
  const retries = new Counter({ name: 'workqueue_retries_total', help: 'Retries after failures.', labelNames, ...on })
  return {
    onAdd: (name) => adds.inc({ name, controller: name }),
    onDepth: (name, priority, count) => depth.set({ name, controller: name, priority }, count),
    onTake: (name, seconds) => queued.observe({ name, controller: name }, seconds),
    onDone: (name, seconds) => work.observe({ name, controller: name }, seconds),
    onRetry: (name) => retries.inc({ name, controller: name }),
  }
}

/** The age gauges of these queues, read at each scrape. */
export function watchQueues(registry: Registry, queues: () => WorkQueue[]): void {
  const labelNames = ['name', 'controller'] as const
  new Gauge({
    name: 'workqueue_unfinished_work_seconds',
    help: 'Time spent so far on keys that are being processed.',
    labelNames,
    registers: [registry],
    collect() {
      for (const queue of queues()) this.set({ name: queue.name, controller: queue.name }, queue.unfinishedSeconds())
    },
  })
  new Gauge({
    name: 'workqueue_longest_running_processor_seconds',
    help: 'Processing time of the key that has been processed for the longest time.',
    labelNames,
    registers: [registry],
    collect() {
      for (const queue of queues()) this.set({ name: queue.name, controller: queue.name }, queue.longestRunningSeconds())
    },
  })
}

/** controller_runtime_… */
export function controllerMetrics(registry: Registry): ControllerMetrics {
  const on: Register = { registers: [registry] }
  const labelNames = ['controller'] as const
  const name = (rest: string) => `controller_runtime_${rest}`
  const total = new Counter({ name: name('reconcile_total'), help: 'Reconciles by result.', labelNames: [...labelNames, 'result'], ...on })
  const time = new Histogram({
    name: name('reconcile_time_seconds'),
    help: 'Duration of a reconcile.',
    labelNames,
    buckets: RECONCILE_BUCKETS,
    ...on,
  })
  const errors = new Counter({ name: name('reconcile_errors_total'), help: 'Reconciles that failed.', labelNames, ...on })
  const terminal = new Counter({
    name: name('terminal_reconcile_errors_total'),
    help: 'Reconciles that failed and are not retried.',
    labelNames,
    ...on,
  })
  const panics = new Counter({
    name: name('reconcile_panics_total'),
    help: 'Reconciles that failed with an unexpected error.',
    labelNames,
    ...on,
  })
  const timeouts = new Counter({
    name: name('reconcile_timeouts_total'),
    help: 'Reconciles that exceeded their timeout.',
    labelNames,
    ...on,
  })
  const active = new Gauge({ name: name('active_workers'), help: 'Busy workers.', labelNames, ...on })
  const most = new Gauge({ name: name('max_concurrent_reconciles'), help: 'Workers.', labelNames, ...on })
  return {
    onReconcile(controller, result, seconds) {
      total.inc({ controller, result })
      time.observe({ controller }, seconds)
    },
    onError(controller, kind) {
      errors.inc({ controller })
      if (kind === 'terminal') terminal.inc({ controller })
      if (kind === 'bug') panics.inc({ controller })
    },
    onTimeout: (controller) => timeouts.inc({ controller }),
    onActiveWorkers: (controller, count) => active.set({ controller }, count),
    onMaxWorkers: (controller, count) => most.set({ controller }, count),
  }
}

/** leader_election_… */
export function electionMetrics(registry: Registry): LeaderElectionMetrics {
  const on: Register = { registers: [registry] }
  const status = new Gauge({ name: 'leader_election_master_status', help: '1 for the leader.', labelNames: ['name'] as const, ...on })
  const slow = new Counter({
    name: 'leader_election_slowpath_total',
    help: 'Lease renewals that took more than one attempt.',
    labelNames: ['name'] as const,
    ...on,
  })
  return { onStatus: (name, isLeader) => status.set({ name }, isLeader ? 1 : 0), onSlowPath: (name) => slow.inc({ name }) }
}

/** reflector_… */
export function reflectorMetrics(registry: Registry): ReflectorMetrics {
  const on: Register = { registers: [registry] }
  const relists = new Counter({
    name: 'reflector_relists_total',
    help: 'Lists, by reason.',
    labelNames: ['resource', 'reason'] as const,
    ...on,
  })
  const missed = new Counter({
    name: 'reflector_missed_events_total',
    help: 'Changes that the watch missed and a later list found.',
    labelNames: ['resource'] as const,
    ...on,
  })
  const ends = new Counter({
    name: 'reflector_watch_ends_total',
    help: 'Watches that ended, by reason.',
    labelNames: ['resource', 'reason'] as const,
    ...on,
  })
  return {
    onRelist: ({ resource, reason }) => relists.inc({ resource, reason }),
    onMissed: ({ resource, count }) => missed.inc({ resource }, count),
    onWatchEnd: ({ resource, reason }) => ends.inc({ resource, reason }),
  }
}

/** rest_client_… */
export function clientMetrics(registry: Registry): (record: RequestRecord) => void {
  const on: Register = { registers: [registry] }
  const total = new Counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server.',
    labelNames: ['code', 'method', 'host'] as const,
    ...on,
  })
  const time = new Histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Duration of requests to the API server.',
    labelNames: ['verb', 'host'] as const,
    buckets: RECONCILE_BUCKETS,
    ...on,
  })
  return ({ code, method, host, verb, durationSeconds }) => {
    total.inc({ code, method, host })
    time.observe({ verb, host }, durationSeconds)
  }
}
