// Account controllers: conditions of Accounts, deletion of Accounts, and ApiKeys that users apply.

import { secrets as secretResource } from '@tintype/crds/client/core-resources'
import { accounts as accountResource, apiKeys as apiKeyResource, screenshots as screenshotResource } from '@tintype/crds/client/kinds'
import { keyOf } from '@tintype/crds/client/kube-object'
import { Resource } from '@tintype/crds/client/resource'
import { accountOf } from '@tintype/crds/records/record'
import { HASH_INDEX, hashesOf, isOfGateway, KEY_ACCOUNT_INDEX } from '../api-key/observe.ts'
import { reconcile as reconcileKey } from '../api-key/reconcile.ts'
import { Controller, type Reconcile } from '../controller/controller.ts'
import type { Reflectors } from '../kube/reflectors.ts'
import type { Deps, StartedWork, Work } from '../runtime/deps.ts'
import { type AccountDeletionDeps, isQueued, QUEUED_INDEX, reconcileDeletion } from './deletion.ts'
import { reconcileAccount } from './reconcile.ts'

const WORKERS = 2

/** Dependencies of this part. */
export interface AccountsDeps extends Pick<Deps, 'http' | 'clock' | 'log' | 'controllerMetrics' | 'isLeader'> {
  config: Pick<Deps['config'], 'namespace' | 'plans'>
  reflectors: Pick<Reflectors, 'accounts' | 'apiKeys' | 'screenshots'>
  storage: AccountDeletionDeps['storage']
  keys: Pick<Deps['keys'], 'downloadKeys'>
}

/** Creates the part. Call it once per process. */
export function createAccounts(deps: AccountsDeps): Work {
  deps.reflectors.apiKeys.lister.addIndex(HASH_INDEX, hashesOf).addIndex(KEY_ACCOUNT_INDEX, accountOf)
  deps.reflectors.screenshots.lister.addIndex(QUEUED_INDEX, (shot) => (isQueued(shot) ? accountOf(shot) : undefined))
  return { start: (signal) => startTerm(deps, signal) }
}

function startTerm(deps: AccountsDeps, signal: AbortSignal): StartedWork {
  const { http, config, reflectors, clock, log, controllerMetrics } = deps
  const { namespace, plans } = config
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
  const accountContext = {
    accounts: accounts.lister,
    store: new Resource(http, accountResource, { namespace }),
    seen: accounts,
    plans,
    now,
  }
  const controller = (name: string, reconcile: Reconcile) =>
    new Controller({ name, workers: WORKERS, reconcile, log, metrics: controllerMetrics })
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
  const deletions = startDeletions(deps, (name, reconcile) => controller(name, reconcile), signal)
  const controllers = [keyController, accountController, deletions]
  for (const each of controllers) each.start()
  return { controllers, stop: async () => void (await Promise.all(controllers.map((each) => each.stop()))) }
}

function startDeletions(
  deps: AccountsDeps,
  controller: (name: string, reconcile: Reconcile) => Controller,
  signal: AbortSignal,
): Controller {
  const { http, config, reflectors, storage, keys, clock, log } = deps
  const { namespace } = config
  const { accounts, screenshots } = reflectors
  const deleted = new Set<string>()
  const context: AccountDeletionDeps = {
    accounts: accounts.lister,
    seenAccounts: accounts,
    accountStore: new Resource(http, accountResource, { namespace }),
    screenshots: screenshots.lister,
    seen: screenshots,
    store: new Resource(http, screenshotResource, { namespace }),
    storage,
    ring: keys.downloadKeys,
    deleted,
    isLeader: () => !signal.aborted && deps.isLeader(),
    now: () => new Date(clock.wall()),
    log,
  }
  const deletions = controller('account-deletion', (key) => reconcileDeletion(key, context))
  deletions.watch(accounts, ({ type, object }) => {
    const key = keyOf(object)
    if (type === 'deleted') deleted.add(key)
    return key
  })
  // Screenshots that a gateway accepted before it saw the deletion, or that an earlier leader did not process.
  deletions.watch(screenshots, ({ type, object }) => {
    const account = `${namespace}/${accountOf(object)}`
    return type === 'deleted' || !isQueued(object) || accounts.lister.has(account) ? [] : account
  })
  return deletions
}
