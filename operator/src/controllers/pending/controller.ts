// rbac: tintype.dev/screenshots list,watch
// rbac: tintype.dev/screenshots/status patch
// rbac: tintype.dev/runnerpools list,watch
// rbac: tintype.dev/accounts list,watch

/**
 * This controller observes queued Screenshots, and the RunnerPools and Accounts that they need. It sets a condition with the reason on those
 * that cannot run and fails them after a timeout. It also fails those beyond the queue limit of their account. Its keys are accounts, and
 * it requeues when the next Screenshot has waited too long. It has its own worker and writes a few statuses at a time, so that ten thousand
 * of them do not delay claims or each other.
 */

import { accountOf } from '@tintype/crds/records/record'
import type { Controller, Requeue } from '../../controller-runtime/controller.ts'
import { createController, type Deps, inTerm, type StartedWork, startControllers, type TermDeps, type Work } from '../../runtime/deps.ts'
import { poolsOf } from '../../scheduling/account-limits.ts'
import { apply } from './apply.ts'
import { isPending, NO_ACCOUNT, PENDING_INDEX, type PendingContext, pendingAccountOf } from './context.ts'
import { decide } from './decide.ts'
import { keyFor, observe } from './observe.ts'

/** How long changes are collected before an account is reconciled. */
const GATHER_MILLISECONDS = 100

/** Creates the controller. Call it once per process. `charges`: uncharged Screenshots need an Account. */
export function createPendingController(deps: Deps, { charges }: { charges: boolean }): Work {
  deps.reflectors.screenshots.lister.addIndex(PENDING_INDEX, pendingAccountOf)
  return { start: (term) => startTerm(inTerm(deps, term), charges) }
}

function startTerm(deps: TermDeps, charges: boolean): StartedWork {
  const { config, reflectors } = deps
  const context: PendingContext = {
    ...deps,
    log: deps.log.child({ component: 'pending' }),
    poolOf: poolsOf(reflectors.accounts.lister, config.plans, config.namespace),
    charges,
    enqueueAfter: (account, milliseconds) => controller.enqueueAfter(account, milliseconds),
  }
  const controller: Controller = createController('pending', { workers: 1 }, (key) => reconcile(key, context), context)
  watchChanges(controller, context)
  return startControllers([controller])
}

/** Which change enqueues which account. */
function watchChanges(controller: Controller, context: PendingContext): void {
  const { screenshots, pools, accounts } = context.reflectors
  const { lister } = screenshots
  controller.watchAndCollect(GATHER_MILLISECONDS, screenshots, ({ type, object, old }) =>
    type === 'deleted' || !isPending(object) || (old && isPending(old)) ? [] : keyFor(accountOf(object), context),
  )
  controller.watchAndCollect(GATHER_MILLISECONDS, pools, ({ type, object, old }) =>
    type === 'modified' && object.spec.video === old?.spec.video
      ? []
      : lister.indexValues(PENDING_INDEX).map((account) => keyFor(account, context)),
  )
  controller.watchAndCollect(GATHER_MILLISECONDS, accounts, ({ object: { metadata } }) =>
    lister.countByIndex(PENDING_INDEX, metadata.name) === 0 ? [] : [metadata.name, NO_ACCOUNT],
  )
}

/** Reconciles the queued Screenshots of one account. */
async function reconcile(key: string, context: PendingContext): Promise<Requeue> {
  const observed = observe(key, context)
  const decision = decide(observed.waiting, observed.limits, context.now())
  return { requeueAfterMilliseconds: await apply(key, decision, observed, context) }
}
