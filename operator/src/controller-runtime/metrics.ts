/**
 * Metric hooks of the controller runtime. Each hook names the metric that it feeds. The names are those of controller-runtime, so that
 * dashboards for Go operators work. metrics/metrics.ts registers them; nothing here depends on prom-client.
 */

/** Priorities of queued keys: live changes are processed before keys from a list. */
export type Priority = 'live' | 'resync'

/**
 * `name` is the name of the queue and of the controller. Age gauges (`unfinishedSeconds`, `longestRunningSeconds`) are read from the queue.
 */
export type WorkQueueMetrics = {
  /** workqueue_adds_total{name,controller} */
  onAdd?(name: string): void
  /** workqueue_depth{name,controller,priority} */
  onDepth?(name: string, priority: Priority, depth: number): void
  /** workqueue_queue_duration_seconds */
  onTake?(name: string, queuedSeconds: number): void
  /** workqueue_work_duration_seconds */
  onDone?(name: string, workSeconds: number): void
  /** workqueue_retries_total */
  onRetry?(name: string): void
}

/** Result of a reconcile, with controller-runtime's labels. */
export type ReconcileResult = 'success' | 'error' | 'requeue' | 'requeue_after'

export type ControllerMetrics = {
  /** controller_runtime_reconcile_total{controller,result} and controller_runtime_reconcile_time_seconds */
  onReconcile?(controller: string, result: ReconcileResult, seconds: number): void
  /** controller_runtime_reconcile_errors_total; `terminal` also controller_runtime_terminal_reconcile_errors_total */
  onError?(controller: string, kind: 'retryable' | 'terminal' | 'bug'): void
  /** controller_runtime_reconcile_timeouts_total */
  onTimeout?(controller: string): void
  /** controller_runtime_active_workers */
  onActiveWorkers?(controller: string, count: number): void
  /** controller_runtime_max_concurrent_reconciles */
  onMaxWorkers?(controller: string, count: number): void
}

export type LeaderElectionMetrics = {
  /** leader_election_master_status{name}: 1 for the leader */
  onStatus?(name: string, isLeader: boolean): void
  /** leader_election_slowpath_total{name}: renewals that needed more than one attempt */
  onSlowPath?(name: string): void
}
