import { instrumentsOf, SECONDS_BUCKETS } from '@tintype/crds/client/probe-server'
import type { Registry } from 'prom-client'

const QUEUE_BUCKETS = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100]

export type RuntimeMetrics = ReturnType<typeof createRuntimeMetrics>

/** Creates the metrics of the controller runtime, with the names that Go operators use, so that their dashboards work. */
export function createRuntimeMetrics(registry: Registry) {
  const { counter, gauge, histogram } = instrumentsOf(registry)
  const ofQueue = ['name', 'controller'] as const
  const ofController = ['controller'] as const
  return {
    adds: counter('workqueue_adds_total', 'Keys added.', ofQueue),
    depth: gauge('workqueue_depth', 'Queued keys.', [...ofQueue, 'priority']),
    queueSeconds: histogram('workqueue_queue_duration_seconds', 'Time that a key was queued.', QUEUE_BUCKETS, ofQueue),
    workSeconds: histogram('workqueue_work_duration_seconds', 'Time that a key was processed.', QUEUE_BUCKETS, ofQueue),
    retries: counter('workqueue_retries_total', 'Retries after failures.', ofQueue),
    reconciles: counter('controller_runtime_reconcile_total', 'Reconciles by result.', [...ofController, 'result']),
    reconcileSeconds: histogram('controller_runtime_reconcile_time_seconds', 'Duration of a reconcile.', SECONDS_BUCKETS, ofController),
    errors: counter('controller_runtime_reconcile_errors_total', 'Reconciles that failed.', ofController),
    terminalErrors: counter(
      'controller_runtime_terminal_reconcile_errors_total',
      'Reconciles that failed and are not retried.',
      ofController,
    ),
    bugs: counter('controller_runtime_reconcile_panics_total', 'Reconciles that failed with an unexpected error.', ofController),
    timeouts: counter('controller_runtime_reconcile_timeouts_total', 'Reconciles that exceeded their timeout.', ofController),
    activeWorkers: gauge('controller_runtime_active_workers', 'Busy workers.', ofController),
    maxWorkers: gauge('controller_runtime_max_concurrent_reconciles', 'Workers.', ofController),
    leads: gauge('leader_election_master_status', '1 for the leader.', ['name']),
    slowRenewals: counter('leader_election_slowpath_total', 'Lease renewals that took more than one attempt.', ['name']),
  }
}

/** What is read of a work queue at each scrape. */
interface WatchedQueue {
  name: string
  unfinishedSeconds: () => number
  longestRunningSeconds: () => number
}

/** Registers the age gauges of these queues, which are read at each scrape. */
export function watchQueues(registry: Registry, queues: () => readonly WatchedQueue[]): void {
  const { computed } = instrumentsOf(registry)
  const ofQueues = (name: string, help: string, measure: (queue: WatchedQueue) => number) =>
    computed(name, help, ['name', 'controller'], (gauge) => {
      for (const queue of queues()) gauge.set({ name: queue.name, controller: queue.name }, measure(queue))
    })
  ofQueues('workqueue_unfinished_work_seconds', 'Time spent so far on keys that are being processed.', (queue) => queue.unfinishedSeconds())
  ofQueues(
    'workqueue_longest_running_processor_seconds',
    'Processing time of the key that has been processed for the longest time.',
    (queue) => queue.longestRunningSeconds(),
  )
}
