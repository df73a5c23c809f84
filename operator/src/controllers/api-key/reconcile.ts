// rbac: tintype.dev/apikeys get,list,watch,patch
// rbac: tintype.dev/apikeys/status patch
// rbac: tintype.dev/accounts get,list,watch
// rbac: /secrets get,create

// Completes ApiKeys that users apply: the text in a Secret, its hash in a label, and a Ready condition. Keys created through the REST API
// are never changed, and an existing hash is never changed.

import type { Requeue } from '../../controller-runtime/controller.ts'
import { type ApplyDeps, apply } from './apply.ts'
import { decide } from './decide.ts'
import { type ObserveDeps, observe } from './observe.ts'

export type ReconcileDeps = ObserveDeps & ApplyDeps & { now: () => Date }

/** Reconciles one ApiKey. */
export async function reconcile(key: string, deps: ReconcileDeps): Promise<Requeue | undefined> {
  const observed = await observe(key, deps)
  return observed && apply(decide(observed, deps.now()), observed.key, deps)
}
