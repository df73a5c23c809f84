// rbac: tintype.dev/screenshots get

import { splitKey } from '@tintype/crds/client/kube-object'
import type { Resource } from '@tintype/crds/client/resource'
import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { isScreenshotIdName, toId, toObjectName } from '@tintype/crds/identifiers/names'
import type { AccountUsage, Reservation } from '@tintype/crds/kinds/account'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { recordKey } from '@tintype/crds/records/storage-keys'
import { isDeleted } from '@tintype/crds/storage/archive'
import { lastUsedAt, unitsOf } from '@tintype/crds/usage/usage'
import type { Storage } from '../../storage/storage.ts'
import { type QuotaContext, REFUND_INDEX } from './context.ts'
import { awaitsRefund, type Changes, isCharged, OPERATOR, type Settlement } from './decide.ts'

// Collects the known changes of an account's usage: charges that wait, units to refund, and reservations whose gateway has ended.

/** Reservations settled in one reconcile; each needs up to a hundred lookups. */
const MAX_SETTLEMENTS = 20
/** How long the refund of a Screenshot that no longer exists is remembered. */
const FORGET_MILLISECONDS = 3_600_000

/** Input of decide for one version of the usage object. A conflict makes the caller collect it again. */
export function toChanges(
  key: string,
  { status }: AccountUsage,
  charges: Changes['charges'],
  settlements: readonly Settlement[],
  context: QuotaContext,
): Changes {
  const { namespace = '', name } = splitKey(key)
  const { lister } = context.reflectors.screenshots
  const find = (id: string) => lister.get(`${namespace}/${toObjectName(id)}`)
  const own = status?.reservations?.filter(({ gateway }) => gateway === OPERATOR) ?? []
  const pendingUids = new Set(charges.map(({ uid }) => uid))
  return {
    charges,
    settlements,
    refunds: lister.byIndex(REFUND_INDEX, name).map(({ metadata, spec }) => ({ id: screenshotIdOf(metadata), units: unitsOf(spec) })),
    // Deleted Screenshots may have been captured before, so they stay charged.
    drops: own.filter(({ id, names }) => !pendingUids.has(id) && isDone(lister.get(`${namespace}/${names[0]}`), id)).map(({ id }) => id),
    forget: (status?.refunds ?? []).filter((id) => isForgettable(id, find(id), context.now())),
  }
}

const isDone = (shot: Screenshot | undefined, uid: string): boolean => shot?.metadata.uid !== uid || isCharged(shot)

const isForgettable = (id: string, shot: Screenshot | undefined, now: Date): boolean =>
  shot ? !awaitsRefund(shot) : now.getTime() - createdAtOf(id).getTime() > FORGET_MILLISECONDS

/** Finds the units that ended gateways reserved and never used. */
export async function settleEnded({ metadata, status }: AccountUsage, context: QuotaContext): Promise<Settlement[]> {
  const { liveness, recentNames, reflectors, clients, storage, metrics } = context
  const namespace = metadata.namespace
  const hasSeen = (name: string) => recentNames.has(name) || reflectors.screenshots.lister.has(`${namespace}/${name}`)
  const settlements: Settlement[] = []
  for (const reservation of status?.reservations ?? []) {
    if (settlements.length === MAX_SETTLEMENTS) break
    if (reservation.gateway === OPERATOR || !(await liveness.hasEnded(reservation.gateway, lastUsedAt(reservation), clients.leases)))
      continue
    const settlement = await settle(metadata.name, reservation, { hasSeen, screenshots: clients.screenshots, storage })
    metrics.settled.inc()
    metrics.settledUnits.inc(settlement.neverMade.length * (reservation.units ?? 1))
    settlements.push(settlement)
  }
  return settlements
}

/** Sources that show whether a reserved name was created. */
export interface SettleContext {
  /** Whether a Screenshot of that name is in the cache or was recently. */
  hasSeen: (name: string) => boolean
  screenshots: Pick<Resource<Screenshot>, 'find'>
  storage: Pick<Storage, 'exists'>
}

/**
 * Finds the objects of a reservation that were never created. Its holder has ended, so they will not be created. In case of doubt a unit
 * stays charged: a client that creates, downloads and deletes in a loop must not reduce its usage.
 * @throws when the API server or the bucket is unavailable; then nothing is settled
 */
export async function settle(account: string, reservation: Reservation, context: SettleContext): Promise<Settlement> {
  const { names } = reservation
  const isNeverMade = await Promise.all(names.map((name) => wasNeverMade(account, name, context)))
  return { reservation, neverMade: names.filter((_, index) => isNeverMade[index]) }
}

/** Check the API server first: archived records and REST deletions are written to the bucket before the object is deleted. */
async function wasNeverMade(account: string, name: string, { hasSeen, screenshots, storage }: SettleContext): Promise<boolean> {
  if (!isScreenshotIdName(name) || hasSeen(name)) return false
  if (await screenshots.find(name)) return false
  const id = toId(name)
  return !(await isDeleted(account, id, storage)) && !(await storage.exists(recordKey(account, id)))
}
