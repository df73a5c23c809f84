// rbac: tintype.dev/apikeys get,list,watch,patch
// rbac: tintype.dev/apikeys/status patch
// rbac: tintype.dev/accounts get,list,watch
// rbac: /secrets get,create

/**
 * This controller observes ApiKeys and their Accounts. It writes the condition Ready, and completes keys that users apply: the text in a Secret,
 * its hash in a label. Keys that were created through the REST API have both. It may not watch Secrets, so it requeues a key without a
 * hash after 15 s, and reads the Secret of other keys every 30 s. Another text there replaces the hash. It requeues a key that expires at that time.
 */

import { secrets as secretResource } from '@tintype/crds/client/core-resources'
import { apiKeys as apiKeyResource } from '@tintype/crds/client/kinds'
import { keyOf } from '@tintype/crds/client/kube-object'
import { Resource } from '@tintype/crds/client/resource'
import { hashesOf } from '@tintype/crds/kinds/api-key'
import { accountOf } from '@tintype/crds/records/record'
import type { Requeue } from '../../controller-runtime/controller.ts'
import { ACCOUNT_INDEX } from '../../kube/account-index.ts'
import type { Reflectors } from '../../kube/reflectors.ts'
import { createController, type Deps, type StartedWork, startControllers, type Work } from '../../runtime/deps.ts'
import type { Term } from '../../runtime/term.ts'
import { type ApplyDeps, apply } from './apply.ts'
import { decide } from './decide.ts'
import { HASH_INDEX, type ObserveDeps, observe } from './observe.ts'

const WORKERS = 2

export interface ApiKeyControllerDeps extends Pick<Deps, 'clock' | 'log' | 'controllerMetrics'> {
  config: Pick<Deps['config'], 'namespace'>
  reflectors: Pick<Reflectors, 'accounts' | 'apiKeys'>
}

/** Creates the controller. Call it once per process. */
export function createApiKeyController(deps: ApiKeyControllerDeps): Work {
  deps.reflectors.apiKeys.lister.addIndex(HASH_INDEX, hashesOf).addIndex(ACCOUNT_INDEX, accountOf)
  return { start: (term) => startTerm({ ...deps, ...term }) }
}

function startTerm({ http, config, reflectors, clock, log, controllerMetrics }: ApiKeyControllerDeps & Term): StartedWork {
  const { namespace } = config
  const { apiKeys, accounts } = reflectors
  const context: ReconcileDeps = {
    keys: apiKeys.lister,
    accounts: accounts.lister,
    secrets: new Resource(http, secretResource, { namespace }),
    store: new Resource(http, apiKeyResource, { namespace }),
    seen: apiKeys,
    now: () => new Date(clock.wall()),
  }
  const controller = createController('apikey', { workers: WORKERS }, (key) => reconcile(key, context), { log, controllerMetrics })
  controller.watch(apiKeys)
  controller.watch(accounts, ({ object }) => apiKeys.lister.byIndex(ACCOUNT_INDEX, object.metadata.name).map(keyOf))
  return startControllers([controller])
}

type ReconcileDeps = ObserveDeps & ApplyDeps & { now: () => Date }

/** Reconciles one ApiKey. */
async function reconcile(key: string, deps: ReconcileDeps): Promise<Requeue | undefined> {
  const observed = await observe(key, deps)
  return observed && apply(decide(observed, deps.now()), observed.key, deps)
}
