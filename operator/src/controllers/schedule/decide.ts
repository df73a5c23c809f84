// Decides when a schedule creates its next run, and with which picture it is compared. Pure.

import { createHash } from 'node:crypto'
import { Annotation } from '@tintype/crds/identifiers/names'
import type { Account } from '@tintype/crds/kinds/account'
import type { CapturePolicySpec } from '@tintype/crds/kinds/capture-policy'
import {
  type ActiveRun,
  MAX_ACTIVE_RUNS,
  type ScheduleBaseline,
  type SeenTiming,
  type StoredSchedule,
} from '@tintype/crds/kinds/screenshot-schedule'
import { findRunRefusal } from '@tintype/crds/policies/runs'
import { accountOf } from '@tintype/crds/records/record'
import { runIdOf } from '@tintype/crds/records/run'
import { type Cron, type CronError, parseCron } from '@tintype/crds/schedule/cron'
import { findSkipped, isTimeZone, lastTime, nextTime, type Timing } from '@tintype/crds/schedule/times'
import { ConditionType, findCondition } from '@tintype/crds/schema/conditions'
import type { ScheduleReason } from '../../kube/condition-reasons.ts'
import { type Approval, keysOfApprovals, updateApprovals } from './approvals.ts'
import { chooseBaseline } from './baseline.ts'
import { type EndedRun, toMoving } from './ended-runs.ts'
import { describeApproval, findEvents, type ScheduleEvent } from './events.ts'
import { buildStatus, type Decision, type DueRun, type Finding, type StatusPatch } from './status.ts'

export interface Observed {
  schedule: StoredSchedule
  account: Account | undefined
  /** The capture policy that the schedule's key has now. Absent: it has none, or was deleted. */
  keyPolicy?: CapturePolicySpec | undefined
  /** True when the account has no unit of its monthly quota left. */
  isQuotaSpent: boolean
  /** Runs that have not ended. */
  open: readonly ActiveRun[]
  /** Runs that have ended and are not in the bucket yet. */
  ended: readonly EndedRun[]
}

/** A clock of an earlier leader may have been this much ahead. Later times are ignored, so that a wrong clock stops no schedule for long. */
const CLOCK_TOLERANCE_MILLISECONDS = 3_600_000
/** Longest delay of a timer. */
const MAX_WAIT_MILLISECONDS = 600_000

export function decide({ schedule, account, keyPolicy, isQuotaSpent, open, ended }: Observed, now: Date): Decision {
  const seen = toSeenTiming(schedule, now)
  const timing = toTiming(schedule)
  const learned = { baseline: chooseBaseline(schedule, ended), moving: toMoving(schedule, ended) }
  if ('reason' in timing) return { ready: timing, timing: seen, ...learned }
  const { spec } = schedule
  const spread = spreadOf(schedule)
  const until = now.getTime() - spread
  const done = handledUntil(schedule, seen, now)
  const from = Math.max(done, until)
  const next = nextTime(timing, from)
  const skipped = next === undefined || spec.suspend ? undefined : findSkipped(timing, { after: from, next })
  const wait = next === undefined ? undefined : Math.min(MAX_WAIT_MILLISECONDS, Math.max(1, next - until))
  const base = {
    ready: evaluate(schedule, { account, keyPolicy, isQuotaSpent, isEverDue: next !== undefined }),
    timing: seen,
    ...learned,
    ...(next === undefined || spec.suspend ? {} : { nextTime: new Date(next) }),
    ...(skipped === undefined ? {} : { skipped }),
    ...(wait === undefined ? {} : { requeueAfterMilliseconds: wait }),
  }
  const time = lastTime(timing, { after: done, until })
  if (time === undefined || base.ready.status !== 'True' || spec.suspend) return base
  const lateMilliseconds = until - time
  if (lateMilliseconds > (spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1_000) return { ...base, missed: new Date(time) }
  const id = runIdOf(schedule.metadata.uid, new Date(time))
  const handled = new Date(time)
  // An earlier leader may have created the run itself.
  if ([...open, ...ended].some((run) => run.id === id)) return { ...base, handled }
  const isBlocked = open.length >= ((spec.concurrencyPolicy ?? 'Forbid') === 'Forbid' ? 1 : MAX_ACTIVE_RUNS)
  return isBlocked ? { ...base, waiting: handled } : { ...base, handled, due: { id, time: handled, lateMilliseconds } }
}

function toTiming({ metadata, spec }: StoredSchedule): Timing | Finding {
  const timeZone = spec.timeZone ?? 'UTC'
  if (!isTimeZone(timeZone)) {
    const message = `The time zone ${timeZone} is unknown. Set spec.timeZone to a name of the IANA database such as Europe/Zurich.`
    return { status: 'False', reason: 'UnknownTimeZone', message }
  }
  const cron = read(spec.schedule)
  if (typeof cron === 'string') return { status: 'False', reason: 'InvalidSchedule', message: `spec.schedule: ${cron}.` }
  return { cron, timeZone, anchor: Date.parse(metadata.creationTimestamp) }
}

function read(text: string): Cron | string {
  try {
    return parseCron(text)
  } catch (error) {
    return (error as CronError).message
  }
}

/**
 * When a schedule is due, and since when. A change of the expression or the zone holds from the reconcile that sees it, so that no run starts
 * for a time before the change. The API server stores no time of the change.
 */
function toSeenTiming({ metadata, spec, status }: StoredSchedule, now: Date): SeenTiming {
  const { schedule, timeZone } = spec
  const known = status?.timing
  if (known && known.schedule === schedule && known.timeZone === timeZone) return known
  const present = { schedule, ...(timeZone === undefined ? {} : { timeZone }) }
  // A new schedule, or the first reconcile of an operator that stores the timing: the generation shows whether the spec has changed.
  const seenGeneration = findCondition(status?.conditions, ConditionType.ready)?.observedGeneration ?? 1
  const isFirst = known === undefined && (metadata.generation ?? 1) === seenGeneration
  return isFirst ? present : { ...present, since: now.toISOString() }
}

/** Times until then are done, or before the schedule or its last change. */
function handledUntil({ metadata, status }: StoredSchedule, { since }: SeenTiming, now: Date): number {
  const times = [status?.lastScheduleTime ?? metadata.creationTimestamp, ...(since === undefined ? [] : [since])].map((time) => {
    const at = Date.parse(time)
    return at > now.getTime() + CLOCK_TOLERANCE_MILLISECONDS ? now.getTime() : at
  })
  return Math.max(...times)
}

/** Delay of all runs of a schedule in milliseconds: less than `spreadSeconds`, and the same for its whole life. */
export function spreadOf({ metadata, spec }: Pick<StoredSchedule, 'metadata' | 'spec'>): number {
  const range = (spec.spreadSeconds ?? 0) * 1_000
  return range === 0 ? 0 : createHash('sha256').update(metadata.uid).digest().readUInt32BE() % range
}

function evaluate(
  schedule: StoredSchedule,
  { account, keyPolicy, isQuotaSpent, isEverDue }: Pick<Observed, 'account' | 'keyPolicy' | 'isQuotaSpent'> & { isEverDue: boolean },
): Finding {
  const { spec } = schedule
  const name = accountOf({ spec })
  const refused = (reason: ScheduleReason, message: string): Finding => ({ status: 'False', reason, message })
  if (!isEverDue) return refused('NeverDue', `No date within nine years matches ${spec.schedule}. Change spec.schedule.`)
  if (!account) return refused('AccountNotFound', `Account ${name} does not exist, or was deleted. No runs are created.`)
  if (account.spec.suspended) return refused('AccountSuspended', `Account ${name} is suspended. No runs are created.`)
  const refusal = findRunRefusal(schedule, keyPolicy)
  if (refusal) return refused(refusal.reason, `No runs are created: ${refusal.message}.`)
  if (isQuotaSpent) return refused('QuotaExceeded', `The monthly quota of account ${name} is used up. No runs are created.`)
  return { status: 'True', reason: 'Scheduled', message: 'Runs are created when they are due.' }
}

export type Action =
  /** Creates the run of a schedule in this state. */
  | { do: 'createRun'; run: DueRun; of: StoredSchedule; keyPolicy?: CapturePolicySpec | undefined }
  | { do: 'writeStatus'; status: StatusPatch }
  | { do: 'report'; event: ScheduleEvent }
  /** Removes the annotation of a request, or names the approval that it undoes. */
  | { do: 'annotate'; annotations: Readonly<Record<string, string | null>> }
  /** Removes the pictures that neither these keys name nor an open run needs. */
  | { do: 'removePictures'; kept: readonly string[] }

/** The pictures that were copied. */
interface Copied {
  /** The picture to compare with; undefined: there is none. */
  kept: ScheduleBaseline | undefined
  /** The outcome of a request to approve a run; undefined: nothing was requested. */
  approval: Approval | undefined
}

/** Actions in the order in which they must be executed: the status names a run that exists. */
export function decideWrites(
  { schedule, keyPolicy, open, ended }: Observed,
  decision: Decision,
  { kept, approval }: Copied,
  now: Date,
): Action[] {
  const { due, moving } = decision
  const approvals = updateApprovals(withStatus(schedule, { baseline: kept }), approval, now)
  const approved = approval && 'baseline' in approval ? approval : undefined
  const baseline = approved ? approved.baseline : kept
  const compared = withStatus(schedule, { baseline })
  const status = buildStatus(
    schedule,
    decision,
    {
      ...{ ended, baseline, approvals, approvedId: approved?.baseline?.id },
      open: due ? [...open, { id: due.id, time: due.time.toISOString() }] : open,
    },
    now,
  )
  const actions: Action[] = []
  if (due) actions.push({ do: 'createRun', run: due, of: withStatus(compared, { moving }), ...(keyPolicy ? { keyPolicy } : {}) })
  if (status) actions.push({ do: 'writeStatus', status })
  const events = [...findEvents(schedule, decision, ended, compared), ...(approval ? describeApproval(approval) : [])]
  actions.push(...events.map((event): Action => ({ do: 'report', event })))
  if (approval) actions.push({ do: 'annotate', annotations: toAnnotations(approval) })
  const after = picturesOf(withStatus(compared, { approvals }))
  if (picturesOf(schedule).some((key) => !after.includes(key))) actions.push({ do: 'removePictures', kept: after })
  return actions
}

/** The schedule as it is after some fields of its status were written. */
export const withStatus = (schedule: StoredSchedule, status: StoredSchedule['status']): StoredSchedule => ({
  ...schedule,
  status: { ...schedule.status, ...status },
})

const toAnnotations = (approval: Approval): Record<string, string | null> =>
  'request' in approval ? { [Annotation.approve]: approval.request } : { [Annotation.approve]: null, [Annotation.approvedBy]: null }

/** Keys of the pictures that a schedule needs for later runs and to undo approvals. */
const picturesOf = (schedule: StoredSchedule): string[] => {
  const { baseline, approvals = [] } = schedule.status ?? {}
  return [...(baseline ? [baseline.key] : []), ...keysOfApprovals(schedule, approvals)]
}
