// Accounts and the keys that people apply, as one part of the operator.

import { secrets as secretResource } from '@tintype/crds/client/core-resources'
import { accounts as accountResource, apiKeys as apiKeyResource } from '@tintype/crds/client/kinds'
import { keyOf } from '@tintype/crds/client/kube-object'
import { Resource } from '@tintype/crds/client/resource'
import { accountOf } from '@tintype/crds/record'
import { HASH_INDEX, hashesOf, isOfGateway, KEY_ACCOUNT_INDEX } from '../api-key/observe.ts'
import { reconcile as reconcileKey } from '../api-key/reconcile.ts'
import { Controller, type Reconcile } from '../controller/controller.ts'
import type { Deps, Reflectors, StartedWork, Work } from '../deps.ts'
import { reconcileAccount } from './reconcile.ts'

const WORKERS = 2

/** What this part needs of the operator. */
export interface AccountsDeps extends Pick<Deps, 'http' | 'clock' | 'log' | 'controllerMetrics'> {
  config: Pick<Deps['config'], 'namespace'>
  reflectors: Pick<Reflectors, 'accounts' | 'apiKeys'>
}

/** Makes the part; once a process. */
export function createAccounts(deps: AccountsDeps): Work {
  deps.reflectors.apiKeys.lister.addIndex(HASH_INDEX, hashesOf).addIndex(KEY_ACCOUNT_INDEX, accountOf)
  return { start: () => startTerm(deps) }
}

function startTerm({ http, config, reflectors, clock, log, controllerMetrics }: AccountsDeps): StartedWork {
  const { namespace } = config
  const { apiKeys, accounts } = reflectors
  const now = () => new Date(clock.wall())
  const keyContext = {
    keys: apiKeys.lister,
    accounts: accounts.lister,
    secrets: new Resource(http, secretResource, { namespace }),
    store: new Resource(http, apiKeyResource, { namespace }),
    seen: apiKeys,
    now,
  }
  const accountContext = { accounts: accounts.lister, store: new Resource(http, accountResource, { namespace }), seen: accounts, now }
  const controller = (name: string, reconcile: Reconcile) =>
    new Controller({ name, workers: WORKERS, reconcile, log: log.child({ controller: name }), metrics: controllerMetrics })
  const keyController = controller('apikey', (key) => reconcileKey(key, keyContext))
  const accountController = controller('account', (key) => reconcileAccount(key, accountContext))
  keyController.watch(apiKeys, ({ object }) => (isOfGateway(object) ? [] : keyOf(object)))
  keyController.watch(accounts, ({ object }) =>
    apiKeys.lister
      .byIndex(KEY_ACCOUNT_INDEX, object.metadata.name)
      .filter((key) => !isOfGateway(key))
      .map(keyOf),
  )
  accountController.watch(accounts)
  const controllers = [keyController, accountController]
  for (const each of controllers) each.start()
  return { controllers, stop: async () => void (await Promise.all(controllers.map((each) => each.stop()))) }
}
