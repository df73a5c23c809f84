import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { AccountUsage, AccountUsageStatus, Reservation } from '@tintype/crds/kinds/account-usage'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { isReused } from '@tintype/crds/records/cache'
import { ConditionType, findCondition } from '@tintype/crds/schema/conditions'
import { monthOf, type Outcome, UsageDraft } from '@tintype/crds/usage/usage'

// What the operator does to an account's count. Pure: it is decided anew over the newest state after each lost race.

/** Who holds the reservations that the operator makes for objects that did not come through a gateway. */
export const OPERATOR = 'operator'

/** Failures that never cost anything, or that were asked for. */
const NO_REFUND: ReadonlySet<string> = new Set(['USAGE_LIMIT_REACHED', 'ACCOUNT_SUSPENDED', 'CANCELLED'])

/** Whether its unit is spent: by a gateway before it was created, or when it was first claimed. */
export function isCharged({ spec, status }: Pick<Screenshot, 'spec' | 'status'>): boolean {
  if (spec.reservation !== undefined || (status?.attempt ?? 0) > 0) return true
  return findCondition(status?.conditions, ConditionType.charged)?.status === 'True'
}

const isRefunded = ({ status }: Pick<Screenshot, 'status'>): boolean =>
  findCondition(status?.conditions, ConditionType.refunded)?.status === 'True'

/** A failed capture, or a picture that there was already, that was charged and does not say yet that it was given back. */
export function awaitsRefund(shot: Pick<Screenshot, 'spec' | 'status'>): boolean {
  if (isReused(shot)) return isCharged(shot) && !isRefunded(shot)
  const code = shot.status?.result?.error?.code
  return shot.status?.phase === 'Failed' && code !== undefined && !NO_REFUND.has(code) && isCharged(shot) && !isRefunded(shot)
}

/** As {@link awaitsRefund}, and the month that it was charged to is not over: it must not be archived before. */
export const mayBeRefunded = (shot: Screenshot, now: Date): boolean =>
  awaitsRefund(shot) && monthOf(createdAtOf(screenshotIdOf(shot.metadata))) === monthOf(now)

/**
 * A count that is begun again: what was charged this month, as far as it can still be found. What failed and is archived is counted too.
 * @param past ids of the month that only the bucket knows of
 */
export function recount(live: readonly Screenshot[], past: ReadonlySet<string>, limit: number, now: Date): AccountUsageStatus {
  const period = monthOf(now)
  const ids = new Set(live.map(({ metadata }) => screenshotIdOf(metadata)))
  const spent = live.filter(
    (shot) => isCharged(shot) && !isRefunded(shot) && monthOf(createdAtOf(screenshotIdOf(shot.metadata))) === period,
  )
  return { period, used: Math.min(limit, spent.length + past.difference(ids).size) }
}

/** A Screenshot that is about to be claimed and has not been paid for. */
export interface ChargeWanted {
  uid: string
  name: string
}

/** A reservation that nobody works under any more. */
export interface Settlement {
  reservation: Reservation
  neverMade: readonly string[]
}

/** What is known of an account besides its count. */
export interface Changes {
  charges: readonly ChargeWanted[]
  settlements: readonly Settlement[]
  /** Reservations of our own that are not needed any more. */
  drops: readonly string[]
  /** Ids of failed Screenshots. */
  refunds: readonly string[]
  /** Ids of refunds that need not be remembered. */
  forget: readonly string[]
}

/** What an update comes to; `status` is absent when nothing changes. */
export interface Decision {
  status?: AccountUsageStatus
  /** One for each charge. */
  outcomes: Outcome[]
}

/** Makes all changes in one update. */
export function decide(usage: Pick<AccountUsage, 'spec' | 'status'>, changes: Changes, now: Date): Decision {
  const draft = new UsageDraft(usage, now)
  for (const { reservation, neverMade } of changes.settlements) draft.settle(reservation, neverMade)
  for (const id of changes.refunds) draft.refund(id)
  const outcomes = changes.charges.map(({ uid, name }) =>
    draft.reserve({ id: uid, names: [name], gateway: OPERATOR, at: now, countsForRate: false }),
  )
  const isWorthWriting = draft.changes > 0
  // These ride along: they are not worth an update of their own until they are many.
  for (const id of changes.drops) draft.drop(id)
  draft.forgetRefunds(changes.forget)
  if (!isWorthWriting && changes.drops.length + changes.forget.length < MANY) return { outcomes }
  return draft.changes === 0 ? { outcomes } : { outcomes, status: draft.toStatus() }
}

const MANY = 100
