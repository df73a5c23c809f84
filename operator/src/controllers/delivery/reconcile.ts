// rbac: tintype.dev/screenshots get,list,watch,delete
// rbac: tintype.dev/screenshots/status patch
// rbac: tintype.dev/webhooks get,list,watch
// rbac: /secrets get

// Reconciles the deliveries of one Screenshot. Posts take seconds, so a reconcile only starts them. When they end, they enqueue the Screenshot
// again, and the results are written to status.deliveries. Runs on the leader only.

import type { Requeue } from '../../controller-runtime/controller.ts'
import { type ApplyDeps, apply } from './apply.ts'
import { decide } from './decide.ts'
import type { RetrySchedule } from './flow-control/retry.ts'
import { type ObserveDeps, observe } from './observe.ts'

export interface ReconcileDeps extends ObserveDeps, ApplyDeps {
  schedule: RetrySchedule
  /** False once this operator loses leadership. */
  mayPost: () => boolean
  now: () => Date
}

/** Reconciles the events of one Screenshot. */
export async function reconcile(key: string, deps: ReconcileDeps, signal: AbortSignal): Promise<Requeue | undefined> {
  const observed = observe(key, deps)
  if (!observed) {
    deps.progressStore.forget(key)
    return undefined
  }
  const { candidates, isDeleteRequested } = observed
  const { schedule, progressStore } = deps
  const isCrowded = progressStore.backlog.isFull
  const actions = decide(candidates, { schedule, mayPost: deps.mayPost(), isDeleteRequested, isCrowded, now: deps.now() })
  const requeue = await apply(actions, observed, deps, signal)
  deps.progressStore.prune(key)
  return requeue
}
