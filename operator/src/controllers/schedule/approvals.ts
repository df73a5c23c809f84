// The history of approvals in the status of a schedule. It keeps the pictures that approvals replaced, so that a person can undo them. Pure.

import { Annotation } from '@tintype/crds/identifiers/names'
import {
  MAX_APPROVALS,
  MAX_APPROVER,
  type RunApproval,
  type ScheduleBaseline,
  type StoredSchedule,
} from '@tintype/crds/kinds/screenshot-schedule'
import { accountOf } from '@tintype/crds/records/record'
import { baselineOf } from '@tintype/crds/records/run'
import { baselineKey } from '@tintype/crds/records/storage-keys'

/** Outcome of a request. */
export type Approval =
  /** `isNew`: false if the run was the baseline before. */
  | { baseline: ScheduleBaseline; isNew: boolean }
  /** The approval that was undone, and the baseline from now on. `isNew`: false if it was undone before. */
  | { undone: RunApproval; baseline: ScheduleBaseline | undefined; isNew: boolean }
  /** The request, with the approval that it undoes. It replaces the annotation. */
  | { request: string }
  | { refusal: string }

/** How long an approval can be undone. */
const KEPT_MILLISECONDS = 30 * 86_400_000

/** The value of the annotation; undefined: nothing is requested. */
export const requestOf = ({ metadata }: StoredSchedule): string | undefined => metadata.annotations?.[Annotation.approve]

/** Who requests it; undefined: not known. */
const requesterOf = ({ metadata }: StoredSchedule): string | undefined =>
  metadata.annotations?.[Annotation.approvedBy]?.slice(0, MAX_APPROVER) || undefined

/**
 * The history after a reconcile, the newest approval first.
 * @param schedule with the baseline before the approval
 */
export function updateApprovals(schedule: StoredSchedule, approval: Approval | undefined, now: Date): RunApproval[] {
  if (schedule.spec.comparison?.baseline !== 'Approved') return []
  const known = (schedule.status?.approvals ?? []).map((one) => (isExpired(one, now) ? withoutPicture(one) : one))
  const by = requesterOf(schedule)
  if (!approval || !('baseline' in approval) || !approval.isNew) return known
  if ('undone' in approval) {
    const isUndone = ({ approvalTime }: RunApproval) => approvalTime === approval.undone.approvalTime
    const undone = { undoneTime: now.toISOString(), ...(by === undefined ? {} : { undoneBy: by }) }
    return known.map((one) => (isUndone(one) ? { ...withoutPicture(one), ...undone } : one))
  }
  const before = baselineOf(schedule)
  const added: RunApproval = {
    ...{ id: approval.baseline.id, approvalTime: toApprovalTime(known[0], now) },
    ...(by === undefined ? {} : { by }),
    ...(before ? { replaced: toReplaced(before) } : {}),
  }
  // The approval has copied the picture of its run again.
  const same = ({ replaced }: RunApproval) => replaced?.etag !== undefined && replaced.id === approval.baseline.id
  const others = known.map((one) => (same(one) ? { ...one, replaced: toReplaced(approval.baseline) } : one))
  return [added, ...others].slice(0, MAX_APPROVALS)
}

/** Keys of the pictures that the history needs. */
export const keysOfApprovals = ({ metadata, spec }: StoredSchedule, approvals: readonly RunApproval[]): string[] =>
  approvals.flatMap(({ replaced }) => (replaced?.etag === undefined ? [] : [baselineKey(accountOf({ spec }), metadata.uid, replaced.id)]))

/** An undo names its approval by its time, so each approval has another one, also after the clock was set back. */
const toApprovalTime = (last: RunApproval | undefined, now: Date): string =>
  new Date(Math.max(now.getTime(), last ? Date.parse(last.approvalTime) + 1 : 0)).toISOString()

const isExpired = ({ approvalTime }: RunApproval, now: Date): boolean => now.getTime() - Date.parse(approvalTime) > KEPT_MILLISECONDS

const toReplaced = ({ id, time, etag, text }: ScheduleBaseline): NonNullable<RunApproval['replaced']> => ({
  ...{ id, time, etag },
  ...(text ? { textEtag: text.etag } : {}),
})

function withoutPicture({ replaced, ...approval }: RunApproval): RunApproval {
  return replaced ? { ...approval, replaced: { id: replaced.id, time: replaced.time } } : approval
}
