// rbac: tintype.dev/webhooks get,list,watch,patch
// (patch: disabling an endpoint that has failed for days)
// rbac: tintype.dev/webhooks/status patch
// rbac: /secrets get,create

// Prepares a Webhook for deliveries: its Secret and its status. The delivery controller posts events; nothing here sends requests outside
// the cluster.

import type { Requeue } from '../../controller-runtime/controller.ts'
import { type ApplyDeps, apply } from './apply.ts'
import type { DisableSettings } from './auto-disable.ts'
import { decide } from './decide.ts'
import { type ObserveDeps, observe } from './observe.ts'

export type ReconcileDeps = ObserveDeps & ApplyDeps & { disable: DisableSettings }

/** Reconciles one Webhook. */
export async function reconcile(key: string, deps: ReconcileDeps, signal: AbortSignal): Promise<Requeue | undefined> {
  const observed = await observe(key, deps)
  if (!observed) return undefined
  return apply(decide(observed, deps.now(), deps.disable), observed.webhook, deps, signal)
}
