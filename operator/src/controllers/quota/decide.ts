import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { AccountUsage, AccountUsageStatus, Reservation } from '@tintype/crds/kinds/account'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { isReused } from '@tintype/crds/records/cache'
import { isFree } from '@tintype/crds/records/record'
import { ConditionType, findCondition } from '@tintype/crds/schema/conditions'
import { addUnits, type DailyUsage, dateOf, monthOf, type Outcome, UsageDraft, unitsOf } from '@tintype/crds/usage/usage'

// Decides the changes of an account's usage. Pure: after each conflict it is called again with the newest state.

/** Holder of the operator's own reservations, which are for objects that no gateway created. */
export const OPERATOR = 'operator'

/** Whether the Screenshot is charged: by a gateway before its creation, or at its first claim. */
export function isCharged({ spec, status }: Pick<Screenshot, 'spec' | 'status'>): boolean {
  if (spec.reservation !== undefined || (status?.attempt ?? 0) > 0) return true
  return findCondition(status?.conditions, ConditionType.charged)?.status === 'True'
}

const isRefunded = ({ status }: Pick<Screenshot, 'status'>): boolean =>
  findCondition(status?.conditions, ConditionType.refunded)?.status === 'True'

/** True for a charged Screenshot whose failure is free, or that reused an existing picture, and that has no condition for its refund yet. */
export function awaitsRefund(shot: Pick<Screenshot, 'spec' | 'status'>): boolean {
  return (isReused(shot) || isFree(shot)) && isCharged(shot) && !isRefunded(shot)
}

/**
 * Recomputes lost usage: all charges of this month that can still be found. Failed screenshots that are archived already are counted too.
 * @param past units of this month's screenshots that are only in the bucket, by id
 */
export function recount(live: readonly Screenshot[], past: ReadonlyMap<string, number>, limit: number, now: Date): AccountUsageStatus {
  const period = monthOf(now)
  const ids = new Set(live.map(({ metadata }) => screenshotIdOf(metadata)))
  const spent = live.filter(
    (shot) => isCharged(shot) && !isRefunded(shot) && monthOf(createdAtOf(screenshotIdOf(shot.metadata))) === period,
  )
  const charges: [id: string, units: number][] = [
    ...spent.map(({ metadata, spec }): [string, number] => [screenshotIdOf(metadata), unitsOf(spec)]),
    ...[...past].filter(([id]) => !ids.has(id)),
  ]
  return {
    period,
    used: Math.min(
      limit,
      charges.reduce((sum, [, units]) => sum + units, 0),
    ),
    days: toDays(charges, period),
  }
}

/** Adds up the charges of each day first, because an account may have a million. */
function toDays(charges: readonly (readonly [id: string, units: number])[], period: string): DailyUsage {
  const sums = new Map<string, number>()
  for (const [id, units] of charges) {
    const date = dateOf(createdAtOf(id))
    sums.set(date, (sums.get(date) ?? 0) + units)
  }
  return [...sums].reduce((days, [date, units]): DailyUsage => addUnits(days, new Date(date), units, period), {})
}

/** A Screenshot without a charge that is about to be claimed. */
export interface ChargeWanted {
  uid: string
  name: string
  units: number
}

/** A failed Screenshot and the units that it cost. */
export interface Refund {
  id: string
  units: number
}

/** A reservation whose holder has ended. */
export interface Settlement {
  reservation: Reservation
  neverMade: readonly string[]
}

/** Changes of the usage of an account. */
export interface Changes {
  charges: readonly ChargeWanted[]
  settlements: readonly Settlement[]
  /** Reservations of the operator that are no longer needed. */
  drops: readonly string[]
  refunds: readonly Refund[]
  /** Ids of refunds that may be forgotten. */
  forget: readonly string[]
}

/** Result of an update; `status` is absent when nothing changes. */
export interface Decision {
  status?: AccountUsageStatus
  /** One outcome for each charge. */
  outcomes: Outcome[]
}

/** Applies all changes in one update. */
export function decide(usage: Pick<AccountUsage, 'spec' | 'status'>, changes: Changes, now: Date): Decision {
  const draft = new UsageDraft(usage, now)
  for (const { reservation, neverMade } of changes.settlements) draft.settle(reservation, neverMade)
  for (const { id, units } of changes.refunds) draft.refund(id, units)
  const outcomes = changes.charges.map(({ uid, name, units }) =>
    draft.reserve({ id: uid, names: [name], units, gateway: OPERATOR, at: now, countsForRate: false }),
  )
  const isWorthWriting = draft.changes > 0
  // These are written together with other changes, or in their own update when there are many.
  for (const id of changes.drops) draft.drop(id)
  draft.forgetRefunds(changes.forget)
  if (!isWorthWriting && changes.drops.length + changes.forget.length < MANY) return { outcomes }
  return draft.changes === 0 ? { outcomes } : { outcomes, status: draft.toStatus() }
}

const MANY = 100
