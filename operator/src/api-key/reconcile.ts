// rbac: tintype.dev/apikeys get,list,watch,patch
// rbac: tintype.dev/apikeys/status patch
// rbac: tintype.dev/accounts get,list,watch
// rbac: /secrets get,create

// Makes an ApiKey that a person applied work: its text in a Secret, the hash of it in a label, and a condition that tells. Keys made over REST
// are never touched, and a hash that is there is never changed.

import type { Requeue } from '../controller/controller.ts'
import { type ApplyDeps, apply } from './apply.ts'
import { decide } from './decide.ts'
import { type ObserveDeps, observe } from './observe.ts'

export type ReconcileDeps = ObserveDeps & ApplyDeps & { now: () => Date }

/** Does what an ApiKey needs. */
export async function reconcile(key: string, deps: ReconcileDeps): Promise<Requeue | undefined> {
  const observed = await observe(key, deps)
  return observed && apply(decide(observed, deps.now()), observed.key, deps)
}
