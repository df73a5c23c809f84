// rbac: tintype.dev/accounts get,list,watch
// rbac: tintype.dev/accounts/status patch

/**
 * This controller observes Accounts. It writes the condition Ready, which says whether the account is suspended and whether its plan is
 * defined. It never requeues: only a change of the Account matters. deletion.ts handles deleted Accounts, and bootstrap.ts creates the first one.
 */

import { accounts as accountResource } from '@tintype/crds/client/kinds'
import type { Lister } from '@tintype/crds/client/lister'
import { Resource } from '@tintype/crds/client/resource'
import { Account } from '@tintype/crds/kinds/account'
import { accountOf } from '@tintype/crds/records/record'
import type { Plans } from '@tintype/crds/usage/plans'
import { patchStatus, type Writer } from '../../kube/patch-seen.ts'
import { readObject } from '../../kube/read-object.ts'
import { createController, type StartedWork, startControllers, type Work } from '../../runtime/deps.ts'
import type { Term } from '../../runtime/term.ts'
import { decide } from './decide.ts'
import { createDeletionController, type DeletionControllerDeps, isQueued, QUEUED_INDEX } from './deletion.ts'

const WORKERS = 2

/** Creates the controllers. Call it once per process. */
export function createAccountControllers(deps: DeletionControllerDeps): Work {
  deps.reflectors.screenshots.lister.addIndex(QUEUED_INDEX, (shot) => (isQueued(shot) ? accountOf(shot) : undefined))
  return { start: (term) => startTerm({ ...deps, ...term }) }
}

function startTerm(deps: DeletionControllerDeps & Term): StartedWork {
  const { http, config, reflectors, clock } = deps
  const { accounts } = reflectors
  const context: AccountDeps = {
    accounts: accounts.lister,
    store: new Resource(http, accountResource, { namespace: config.namespace }),
    seen: accounts,
    plans: config.plans,
    now: () => new Date(clock.wall()),
  }
  const controller = createController('account', { workers: WORKERS }, (key) => reconcile(key, context), deps)
  controller.watch(accounts)
  return startControllers([controller, createDeletionController(deps)])
}

interface AccountDeps extends Writer<Account> {
  accounts: Pick<Lister<Account>, 'get'>
  plans: Plans
  now: () => Date
}

/** Reconciles one Account. */
async function reconcile(key: string, { accounts, plans, now, ...writer }: AccountDeps): Promise<void> {
  const cached = accounts.get(key)
  if (!cached || cached.metadata.deletionTimestamp !== undefined) return
  const account = readObject('Account', Account, cached)
  const conditions = decide(account, plans, now())
  if (conditions) await patchStatus(account, { conditions }, writer)
}
