// rbac: tintype.dev/apikeys get,list,watch,patch
// rbac: tintype.dev/apikeys/status patch
// rbac: tintype.dev/accounts get,list,watch
// rbac: /secrets get,create

/**
 * This controller observes ApiKeys and their Accounts. It writes the condition Ready, and completes keys that users apply: the text in a Secret,
 * its hash in a label. Keys that were created through the REST API have both. It may not watch Secrets, so it requeues a key without a
 * hash after 15 s, and reads the Secret of other keys every 30 s. Another text there replaces the hash. It requeues a key that expires at that time.
 */

import { keyOf } from '@tintype/crds/client/kube-object'
import { hashesOf } from '@tintype/crds/kinds/api-key'
import { accountOf } from '@tintype/crds/records/record'
import type { Requeue } from '../../controller-runtime/controller.ts'
import { ACCOUNT_INDEX } from '../../kube/account-index.ts'
import { createController, type Deps, inTerm, type StartedWork, startControllers, type TermDeps, type Work } from '../../runtime/deps.ts'
import { apply } from './apply.ts'
import { decide } from './decide.ts'
import { HASH_INDEX, observe } from './observe.ts'

const WORKERS = 2

/** Creates the controller. Call it once per process. */
export function createApiKeyController(deps: Deps): Work {
  deps.reflectors.apiKeys.lister.addIndex(HASH_INDEX, hashesOf).addIndex(ACCOUNT_INDEX, accountOf)
  return { start: (term) => startTerm(inTerm(deps, term)) }
}

function startTerm(deps: TermDeps): StartedWork {
  const { apiKeys, accounts } = deps.reflectors
  const controller = createController('apikey', { workers: WORKERS }, (key) => reconcile(key, deps), deps)
  controller.watch(apiKeys)
  controller.watch(accounts, ({ object }) => apiKeys.lister.byIndex(ACCOUNT_INDEX, object.metadata.name).map(keyOf))
  return startControllers([controller])
}

/** Reconciles one ApiKey. */
async function reconcile(key: string, deps: TermDeps): Promise<Requeue | undefined> {
  const observed = await observe(key, deps)
  return observed && apply(decide(observed, deps.now()), observed.key, deps.clients)
}
