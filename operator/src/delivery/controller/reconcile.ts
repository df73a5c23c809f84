// rbac: tintype.dev/screenshots get,list,watch,delete
// rbac: tintype.dev/screenshots/status patch
// rbac: tintype.dev/webhooks get,list,watch
// rbac: /secrets get

// Deliveries of one Screenshot. Posts take seconds, so a reconcile only starts them; their ends enqueue the Screenshot again, and the
// states is written from what has ended. Only the leader runs it.

import type { Requeue } from '../../controller/controller.ts'
import type { RetrySchedule } from '../flow-control/retry.ts'
import { type ApplyDeps, apply } from './apply.ts'
import { decide } from './decide.ts'
import { type ObserveDeps, observe } from './observe.ts'

export interface ReconcileDeps extends ObserveDeps, ApplyDeps {
  schedule: RetrySchedule
  /** False once this operator is about to lead no more. */
  mayPost: () => boolean
  now: () => Date
}

/** Does what is due about the events of a Screenshot. */
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
