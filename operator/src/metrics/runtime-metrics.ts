import type { RequestRecord } from '@tintype/crds/client/kube-http'
import { instrumentsOf } from '@tintype/crds/client/metrics'
import type { Registry } from 'prom-client'
import type { ControllerMetrics, LeaderElectionMetrics, WorkQueueMetrics } from '../controller-runtime/metrics.ts'
import type { WorkQueue } from '../controller-runtime/work-queue.ts'

// Metrics of the parts that are independent of kinds, with the names that Go operators use, so that their dashboards work.

/** Buckets of times between a millisecond and a minute, in seconds. */
export const RECONCILE_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const QUEUE_BUCKETS = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100]

/** workqueue_… */
export function queueMetrics(registry: Registry): WorkQueueMetrics {
  const { counter, gauge, histogram } = instrumentsOf(registry)
  const labelNames = ['name', 'controller'] as const
  const adds = counter('workqueue_adds_total', 'Keys added.', labelNames)
  const depth = gauge('workqueue_depth', 'Queued keys.', [...labelNames, 'priority'])
  const queued = histogram('workqueue_queue_duration_seconds', 'Time that a key was queued.', QUEUE_BUCKETS, labelNames)
  const work = histogram('workqueue_work_duration_seconds', 'Time that a key was processed.', QUEUE_BUCKETS, labelNames)
  const retries = counter('workqueue_retries_total', 'Retries after failures.', labelNames)
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
  const ofQueues = (name: string, help: string, measure: (queue: WorkQueue) => number) =>
    instrumentsOf(registry).computed(name, help, ['name', 'controller'], (gauge) => {
      for (const queue of queues()) gauge.set({ name: queue.name, controller: queue.name }, measure(queue))
    })
  ofQueues('workqueue_unfinished_work_seconds', 'Time spent so far on keys that are being processed.', (queue) => queue.unfinishedSeconds())
  ofQueues(
    'workqueue_longest_running_processor_seconds',
    'Processing time of the key that has been processed for the longest time.',
    (queue) => queue.longestRunningSeconds(),
  )
}

/** controller_runtime_… */
export function controllerMetrics(registry: Registry): ControllerMetrics {
  const { counter, gauge, histogram } = instrumentsOf(registry)
  const labelNames = ['controller'] as const
  const name = (rest: string) => `controller_runtime_${rest}`
  const total = counter(name('reconcile_total'), 'Reconciles by result.', [...labelNames, 'result'])
  const time = histogram(name('reconcile_time_seconds'), 'Duration of a reconcile.', RECONCILE_BUCKETS, labelNames)
  const errors = counter(name('reconcile_errors_total'), 'Reconciles that failed.', labelNames)
  const terminal = counter(name('terminal_reconcile_errors_total'), 'Reconciles that failed and are not retried.', labelNames)
  const panics = counter(name('reconcile_panics_total'), 'Reconciles that failed with an unexpected error.', labelNames)
  const timeouts = counter(name('reconcile_timeouts_total'), 'Reconciles that exceeded their timeout.', labelNames)
  const active = gauge(name('active_workers'), 'Busy workers.', labelNames)
  const most = gauge(name('max_concurrent_reconciles'), 'Workers.', labelNames)
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
  const { counter, gauge } = instrumentsOf(registry)
  const status = gauge('leader_election_master_status', '1 for the leader.', ['name'])
  const slow = counter('leader_election_slowpath_total', 'Lease renewals that took more than one attempt.', ['name'])
  return { onStatus: (name, isLeader) => status.set({ name }, isLeader ? 1 : 0), onSlowPath: (name) => slow.inc({ name }) }
}

/** rest_client_… */
export function clientMetrics(registry: Registry): (record: RequestRecord) => void {
  const { counter, histogram } = instrumentsOf(registry)
  const total = counter('rest_client_requests_total', 'Requests to the API server.', ['code', 'method', 'host'])
  const time = histogram('rest_client_request_duration_seconds', 'Duration of requests to the API server.', RECONCILE_BUCKETS, [
    'verb',
    'host',
  ])
  return ({ code, method, host, verb, durationSeconds }) => {
    total.inc({ code, method, host })
    time.observe({ verb, host }, durationSeconds)
  }
}
