// rbac: coordination.k8s.io/leases delete

// Manages the usage of accounts while this replica leads: creates it, applies limits, settles reservations and refunds units. Gateways keep
// charging without it.

import { leases as leaseResource } from '@tintype/crds/client/core-resources'
import { accountUsages, screenshots as screenshotResource } from '@tintype/crds/client/kinds'
import { isNotFound } from '@tintype/crds/client/kube-error'
import { Resource } from '@tintype/crds/client/resource'
import { accountOf } from '@tintype/crds/records/record'
import { lastUsedAt } from '@tintype/crds/usage/usage'
import { Controller } from '../../controller-runtime/controller.ts'
import type { Deps, StartedWork, Work } from '../../runtime/deps.ts'
import { type Charge, Charges } from './charges.ts'
import { ACCOUNT_INDEX, type QuotaContext, REFUND_INDEX } from './context.ts'
import { awaitsRefund, OPERATOR } from './decide.ts'
import { GatewayLiveness } from './gateway-liveness.ts'
import { createQuotaMetrics } from './metrics.ts'
import { RecentNames } from './recent-names.ts'
import { reconcile } from './reconcile.ts'

const WORKERS = 8
const SWEEP_MILLISECONDS = 5_000
/** How long the Lease of an ended gateway is kept: it proves that the holder of a reservation has ended. */
const KEEP_LEASE_MILLISECONDS = 600_000

/** The quota part of the operator. */
export interface Quota extends Work {
  /** Charges Screenshots that are about to be claimed and have no charge. */
  charge: Charge
}

/** Creates the part. Call it once per process. The standby also tracks names and Leases. */
export function createQuota(deps: Deps): Quota {
  const { reflectors, clock, http, config, registry } = deps
  const { lister } = reflectors.screenshots
  lister.addIndex(ACCOUNT_INDEX, accountOf).addIndex(REFUND_INDEX, (shot) => (awaitsRefund(shot) ? accountOf(shot) : undefined))
  const leases = new Resource(http, leaseResource, { namespace: config.namespace })
  const liveness = new GatewayLiveness({ leases: reflectors.gatewayLeases, store: leases, clock })
  const recentNames = new RecentNames(reflectors.screenshots, clock)
  const metrics = createQuotaMetrics(registry)
  let wake = (_account: string): void => {}
  const charges = new Charges((account) => wake(account))
  const parts = { liveness, recentNames, metrics, charges, leases }
  const start = (signal: AbortSignal): StartedWork => {
    const term = startTerm(deps, parts, signal)
    wake = (account) => term.controllers[0]?.enqueue(`${config.namespace}/${account}`)
    return {
      ...term,
      stop: () => {
        charges.rejectAll()
        return term.stop()
      },
    }
  }
  const charge: Charge = async (shot) => {
    const outcome = await charges.request(shot)
    metrics.onCharge(outcome)
    return outcome
  }
  return { charge, start }
}

type Parts = Pick<QuotaContext, 'liveness' | 'recentNames' | 'metrics' | 'charges'> & {
  leases: Resource<typeof leaseResource.objectType & object>
}

function startTerm(deps: Deps, { leases, ...parts }: Parts, signal: AbortSignal): StartedWork {
  const { http, reflectors, clock, config, storage, events, controllerMetrics } = deps
  const { namespace, plans } = config
  const log = deps.log.child({ component: 'quota' })
  const context: QuotaContext = {
    ...parts,
    reflectors,
    storage,
    events,
    plans,
    log,
    usages: new Resource(http, accountUsages, { namespace }),
    screenshots: new Resource(http, screenshotResource, { namespace }),
    now: () => new Date(clock.wall()),
    isLeader: () => !signal.aborted && deps.isLeader(),
  }
  const controller = new Controller({
    name: 'account-usage',
    workers: WORKERS,
    reconcile: (key) => reconcile(key, context),
    log,
    metrics: controllerMetrics,
  })
  const keyOfAccount = (name: string) => `${namespace}/${name}`
  controller.watch(reflectors.accounts)
  controller.watch(reflectors.usages, ({ type, object, old }) =>
    // Charges by gateways need no reconcile.
    type === 'modified' && old?.spec.limit === object.spec.limit && old.spec.ratePerMinute === object.spec.ratePerMinute && object.status
      ? []
      : keyOfAccount(object.metadata.name),
  )
  controller.watch(reflectors.screenshots, ({ type, object }) =>
    type !== 'deleted' && awaitsRefund(object) ? keyOfAccount(accountOf(object)) : [],
  )
  const sweep = () => {
    for (const { metadata, status } of reflectors.usages.lister.list()) {
      const isDue = status?.reservations?.some(
        (held) => held.gateway !== OPERATOR && parts.liveness.seemsEnded(held.gateway, lastUsedAt(held)),
      )
      if (isDue) controller.enqueue(keyOfAccount(metadata.name))
    }
    for (const name of parts.liveness.expiredFor(KEEP_LEASE_MILLISECONDS)) {
      if (context.isLeader())
        leases.delete(name).catch((error: unknown) => isNotFound(error) || log.debug({ err: error }, 'lease not deleted'))
    }
  }
  const timer = setInterval(sweep, SWEEP_MILLISECONDS)
  controller.start()
  const stop = () => {
    clearInterval(timer)
    return controller.stop()
  }
  return { controllers: [controller], stop }
}
