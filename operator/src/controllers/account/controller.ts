// rbac: tintype.dev/accounts get,list,watch
// rbac: tintype.dev/accounts/status patch

/**
 * This controller observes Accounts. It writes the condition Ready, which says whether the account is suspended and whether its plan is
 * defined. It never requeues: only a change of the Account matters. deletion.ts handles deleted Accounts, and bootstrap.ts creates the first one.
 */

import { Account } from '@tintype/crds/kinds/account'
import { patchStatus } from '../../kube/clients.ts'
import { findLive, readObject } from '../../kube/read-object.ts'
import { createController, type Deps, inTerm, type StartedWork, startControllers, type TermDeps, type Work } from '../../runtime/deps.ts'
import { PENDING_INDEX, pendingAccountOf } from '../pending/decide.ts'
import { decide } from './decide.ts'
import { createDeletionController } from './deletion.ts'

const WORKERS = 2

/** Creates the controllers. Call it once per process. */
export function createAccountControllers(deps: Deps): Work {
  deps.reflectors.screenshots.lister.addIndex(PENDING_INDEX, pendingAccountOf)
  return { start: (term) => startTerm(inTerm(deps, term)) }
}

function startTerm(deps: TermDeps): StartedWork {
  const controller = createController('account', { workers: WORKERS }, (key) => reconcile(key, deps), deps)
  controller.watch(deps.reflectors.accounts)
  return startControllers([controller, createDeletionController(deps)])
}

/** Reconciles one Account. */
async function reconcile(key: string, { reflectors, clients, config, now }: TermDeps): Promise<void> {
  const cached = await findLive(key, { lister: reflectors.accounts.lister, client: clients.accounts }, now())
  if (!cached) return
  const account = readObject('Account', Account, cached)
  const conditions = decide(account, config.plans, now())
  if (conditions) await patchStatus(clients.accounts, account, { conditions })
}
