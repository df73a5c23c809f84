// rbac: coordination.k8s.io/leases delete
// rbac: tintype.dev/accounts list,watch

/**
 * This controller observes Accounts, AccountUsages, Screenshots and the Leases of gateways. Its keys are accounts. It creates the usage
 * object of an account, writes the limits of its plan, and charges Screenshots that no gateway has charged. It refunds failed captures and
 * releases reservations of gateways that have ended, which a scan finds every five seconds. It requeues while a usage object has no room
 * for a charge. Gateways keep charging without it, and a new leader starts from the objects.
 */

import { isNotFound } from '@tintype/crds/client/kube-error'
import { splitKey } from '@tintype/crds/client/kube-object'
import { accountUsageDefinition } from '@tintype/crds/kinds/account'
import { accountOf } from '@tintype/crds/records/record'
import { findNameProblem } from '@tintype/crds/schema/custom-resource'
import { lastUsedAt } from '@tintype/crds/usage/usage'
import type { Controller, Requeue } from '../../controller-runtime/controller.ts'
import { ACCOUNT_INDEX } from '../../kube/account-index.ts'
import { findAccount } from '../../kube/find-account.ts'
import { createController, type Deps, inTerm, type StartedWork, startControllers, type Work } from '../../runtime/deps.ts'
import { applyChanges, markRefunded } from './apply.ts'
import { type Charge, Charges } from './charges.ts'
import { type QuotaContext, REFUND_INDEX } from './context.ts'
import { awaitsRefund, OPERATOR } from './decide.ts'
import { ensureUsage } from './ensure-usage.ts'
import { GatewayLiveness } from './gateway-liveness.ts'
import { createQuotaMetrics } from './metrics.ts'
import { settleEnded, toChanges } from './observe.ts'
import { RecentNames } from './recent-names.ts'

const WORKERS = 8
const FULL_MILLISECONDS = 1_000
const SCAN_MILLISECONDS = 5_000
/** How long the Lease of an ended gateway is kept: it proves that the holder of a reservation has ended. */
const KEEP_LEASE_MILLISECONDS = 600_000

export interface QuotaController extends Work {
  /** Charges Screenshots that are about to be claimed and have no charge. */
  charge: Charge
}

/** Creates the controller. Call it once per process. The standby also tracks names and Leases. */
export function createQuotaController(deps: Deps): QuotaController {
  const { reflectors, clock, registry } = deps
  const { lister } = reflectors.screenshots
  lister.addIndex(ACCOUNT_INDEX, accountOf).addIndex(REFUND_INDEX, (shot) => (awaitsRefund(shot) ? accountOf(shot) : undefined))
  const liveness = new GatewayLiveness({ leases: reflectors.gatewayLeases, clock })
  const recentNames = new RecentNames(reflectors.screenshots, clock)
  const metrics = createQuotaMetrics(registry)
  const charges = new Charges()
  const charge: Charge = async (shot) => {
    const outcome = await charges.request(shot)
    metrics.charges.inc({ outcome })
    return outcome
  }
  const parts = { ...deps, log: deps.log.child({ component: 'quota' }), liveness, recentNames, metrics, charges }
  return { charge, start: (term) => startTerm(inTerm(parts, term)) }
}

function startTerm(context: QuotaContext): StartedWork {
  const controller = createController('account-usage', { workers: WORKERS }, (key) => reconcile(key, context), context)
  const { charges, config } = context
  watchChanges(controller, context)
  const timer = setInterval(() => enqueueEnded(controller, context), SCAN_MILLISECONDS)
  charges.onRequest = (account) => controller.enqueue(`${config.namespace}/${account}`)
  controller.onStop(() => {
    clearInterval(timer)
    charges.rejectAll()
  })
  return startControllers([controller])
}

/** Which change enqueues which account. */
function watchChanges(controller: Controller, { reflectors, config: { namespace } }: QuotaContext): void {
  controller.watch(reflectors.accounts)
  controller.watch(reflectors.usages, ({ type, object, old }) =>
    // Charges by gateways need no reconcile.
    type === 'modified' && old?.spec.limit === object.spec.limit && old.spec.ratePerMinute === object.spec.ratePerMinute && object.status
      ? []
      : `${namespace}/${object.metadata.name}`,
  )
  controller.watch(reflectors.screenshots, ({ type, object }) =>
    type !== 'deleted' && awaitsRefund(object) ? `${namespace}/${accountOf(object)}` : [],
  )
}

/** Enqueues accounts with a reservation of an ended gateway, and deletes the Leases of gateways that ended long ago. */
function enqueueEnded(controller: Controller, { reflectors, clients, liveness, log, config: { namespace } }: QuotaContext): void {
  for (const { metadata, status } of reflectors.usages.lister.list()) {
    const isDue = status?.reservations?.some((held) => held.gateway !== OPERATOR && liveness.seemsEnded(held.gateway, lastUsedAt(held)))
    if (isDue) controller.enqueue(`${namespace}/${metadata.name}`)
  }
  for (const name of liveness.expiredFor(KEEP_LEASE_MILLISECONDS)) {
    clients.leases.delete(name).catch((error: unknown) => isNotFound(error) || log.debug({ err: error }, 'lease not deleted'))
  }
}

/** Reconciles one account: its limits, and all known changes of its usage in one update. */
async function reconcile(key: string, context: QuotaContext): Promise<Requeue | undefined> {
  const { reflectors, charges } = context
  const { name } = splitKey(key)
  const account = findAccount(key, reflectors.accounts.lister)
  const pending = charges.pendingOf(name)
  // No object can name an account with an invalid name, and it can have no usage object. Its condition Ready reports the problem.
  if (!account || findNameProblem(accountUsageDefinition, name) !== undefined) {
    for (const each of pending) charges.resolve(name, each, 'missing')
    return undefined
  }
  const usage = await ensureUsage(account, reflectors.usages.lister.get(key), context)
  if (account.spec.suspended) for (const each of pending) charges.resolve(name, each, 'suspended')
  const wanted = account.spec.suspended ? [] : pending
  const settlements = await settleEnded(usage, context)
  // The other changes are collected and decided for each version of the usage object: see applyChanges.
  const { written, outcomes } = await applyChanges(usage, (current) => toChanges(key, current, wanted, settlements, context), context)
  wanted.forEach((each, index) => {
    const { granted = 0, refusal } = outcomes[index] ?? {}
    if (refusal !== 'full') charges.resolve(name, each, granted === 1 ? 'charged' : 'quota')
  })
  await markRefunded(written, context)
  // A usage object without room for another reservation does not reject the charge: a later update has room.
  return outcomes.some(({ refusal }) => refusal === 'full') ? { requeueAfterMilliseconds: FULL_MILLISECONDS } : undefined
}
