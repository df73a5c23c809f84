// rbac: tintype.dev/webhooks get,list,watch,patch
// (patch: switching off an endpoint that has failed for days)
// rbac: tintype.dev/webhooks/status patch
// rbac: /secrets get,create

// Makes a Webhook ready for deliveries: its Secret, its status. Posting is delivery's; nothing here leaves the cluster.

import type { Requeue } from '../controller/controller.ts'
import { type ApplyDeps, apply } from './apply.ts'
import type { DisableSettings } from './auto-disable.ts'
import { decide } from './decide.ts'
import { type ObserveDeps, observe } from './observe.ts'

export type ReconcileDeps = ObserveDeps & ApplyDeps & { disable: DisableSettings }

/** Does what a Webhook needs. */
export async function reconcile(key: string, deps: ReconcileDeps, signal: AbortSignal): Promise<Requeue | undefined> {
  const observed = await observe(key, deps)
  if (!observed) return undefined
  return apply(decide(observed, deps.now(), deps.disable), observed.webhook, deps, signal)
}
