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

import { screenshots as screenshotKind } from '@tintype/crds/client/kinds'
import { Resource } from '@tintype/crds/client/resource'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { Controller, type Requeue } from '../../controller-runtime/controller.ts'
import type { Deps, StartedWork, TermDeps, Work } from '../../runtime/deps.ts'
import { poolsOf } from '../../scheduling/account-limits.ts'
import { apply } from './apply.ts'
import { NO_ACCOUNT, PENDING_INDEX, type PendingContext } from './context.ts'
import { decide } from './decide.ts'
import { keyFor, observe } from './observe.ts'

/** How long changes are collected before an account is reconciled. */
const GATHER_MILLISECONDS = 100

const isPending = ({ metadata, status }: Screenshot): boolean =>
  (status?.phase ?? 'Pending') === 'Pending' && metadata.deletionTimestamp === undefined

/** Creates the controller. Call it once per process. `charges`: uncharged Screenshots need an Account. */
export function createPendingController(deps: Deps, { charges }: { charges: boolean }): Work {
  deps.reflectors.screenshots.lister.addIndex(PENDING_INDEX, (shot) => (isPending(shot) ? accountOf(shot) : undefined))
  return { start: (term) => startTerm({ ...deps, ...term }, charges) }
}

function startTerm(deps: TermDeps, charges: boolean): StartedWork {
  const { config, http, reflectors, events, clock } = deps
  const log = deps.log.child({ component: 'pending' })
  const context: PendingContext = {
    config,
    reflectors,
    store: new Resource(http, screenshotKind, { namespace: config.namespace }),
    events,
    poolOf: poolsOf(reflectors.accounts.lister, config.plans, config.namespace),
    charges,
    enqueueAfter: (account, milliseconds) => controller.enqueueAfter(account, milliseconds),
    log,
    now: () => new Date(clock.wall()),
  }
  const controller: Controller = new Controller({
    name: 'pending',
    workers: 1,
    reconcile: (key) => reconcile(key, context),
    log,
    metrics: deps.controllerMetrics,
  })
  const unsubscribe = watchChanges(context)
  controller.start()
  const stop = async () => {
    unsubscribe()
    await controller.stop()
  }
  return { controllers: [controller], stop }
}

/** Which change enqueues which account. Returns an unsubscribe function. */
function watchChanges(context: PendingContext): () => void {
  const { reflectors, enqueueAfter } = context
  const { lister } = reflectors.screenshots
  const unsubscribe = [
    reflectors.screenshots.addListener(({ type, object, old }) => {
      if (type === 'deleted' || !isPending(object) || (old && isPending(old))) return
      enqueueAfter(keyFor(accountOf(object), context), GATHER_MILLISECONDS)
    }),
    reflectors.pools.addListener(({ type, object, old }) => {
      if (type === 'modified' && object.spec.video === old?.spec.video) return
      for (const account of lister.indexValues(PENDING_INDEX)) enqueueAfter(keyFor(account, context), GATHER_MILLISECONDS)
    }),
    reflectors.accounts.addListener(({ object }) => {
      if (lister.countByIndex(PENDING_INDEX, object.metadata.name) === 0) return
      for (const key of [object.metadata.name, NO_ACCOUNT]) enqueueAfter(key, GATHER_MILLISECONDS)
    }),
  ]
  return () => {
    for (const end of unsubscribe) end()
  }
}

/** Reconciles the queued Screenshots of one account. */
async function reconcile(key: string, context: PendingContext): Promise<Requeue> {
  const observed = observe(key, context)
  const decision = decide(observed.waiting, observed.limits, context.now())
  return { requeueAfterMilliseconds: await apply(key, decision, observed, context) }
}
