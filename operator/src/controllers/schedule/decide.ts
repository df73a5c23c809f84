// Decides when a schedule creates its next run, and its status. Pure.

import { createHash } from 'node:crypto'
import type { Account } from '@tintype/crds/kinds/account'
import {
  type ActiveRun,
  MAX_ACTIVE_RUNS,
  MAX_RECENT_RUNS,
  type RecentRun,
  type ScreenshotScheduleStatus,
  type StoredSchedule,
} from '@tintype/crds/kinds/screenshot-schedule'
import { accountOf } from '@tintype/crds/records/record'
import { runIdOf } from '@tintype/crds/records/run'
import { type Cron, CronError, parseCron } from '@tintype/crds/schedule/cron'
import { isTimeZone } from '@tintype/crds/schedule/time-zone'
import { lastTime, nextTime, type Timing } from '@tintype/crds/schedule/times'
import { type Condition, ConditionType, findCondition, isSameCondition, setCondition, toReason } from '@tintype/crds/schema/conditions'
import type { ScheduleReason } from '../../kube/condition-reasons.ts'

export interface Observed {
  schedule: StoredSchedule
  account: Account | undefined
  /** True when the account has no unit of its monthly quota left. */
  isQuotaSpent: boolean
  /** Runs that have not ended. */
  open: readonly ActiveRun[]
  /** Runs that have ended and are not in the bucket yet. */
  ended: readonly RecentRun[]
}

/** A run that must exist by now. */
export interface DueRun {
  id: string
  /** Time at which it was due. */
  time: Date
  /** Milliseconds since it should have been created. */
  lateMilliseconds: number
}

export interface Decision {
  ready: Finding
  due?: DueRun
  /** A missed run that is not made up for, because its deadline has passed. */
  missed?: Date
  /** Time of a due run that waits for the previous one. */
  waiting?: Date
  /** Absent: no run will ever be due. */
  nextTime?: Date
  requeueAfterMilliseconds?: number
}

export type Finding = Pick<Condition, 'status' | 'message'> & { reason: ScheduleReason }

/** A status patch; null removes a field. */
export type StatusPatch = { [Field in keyof ScreenshotScheduleStatus]?: ScreenshotScheduleStatus[Field] | null }

/** A clock of an earlier leader may have been this much ahead. Later times are ignored, so that a wrong clock stops no schedule for long. */
const CLOCK_TOLERANCE_MILLISECONDS = 3_600_000
/** Longest delay of a timer. */
const MAX_WAIT_MILLISECONDS = 600_000

export function decide({ schedule, account, isQuotaSpent, open }: Observed, now: Date): Decision {
  const timing = toTiming(schedule)
  if ('reason' in timing) return { ready: timing }
  const { spec, status } = schedule
  const spread = spreadOf(schedule)
  const until = now.getTime() - spread
  const handled = handledUntil(schedule, now)
  const next = nextTime(timing, Math.max(handled, until))
  const wait = next === undefined ? undefined : Math.min(MAX_WAIT_MILLISECONDS, Math.max(1, next - until))
  const base = {
    ready: evaluate(schedule, { account, isQuotaSpent, isEverDue: next !== undefined }),
    ...(next === undefined || spec.suspend ? {} : { nextTime: new Date(next) }),
    ...(wait === undefined ? {} : { requeueAfterMilliseconds: wait }),
  }
  const time = lastTime(timing, { after: handled, until })
  if (time === undefined || base.ready.status !== 'True' || spec.suspend) return base
  const lateMilliseconds = until - time
  if (lateMilliseconds > (spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1_000) return { ...base, missed: new Date(time) }
  const isBlocked = (spec.concurrencyPolicy ?? 'Forbid') === 'Forbid' ? open.length > 0 : open.length >= MAX_ACTIVE_RUNS
  if (isBlocked || (status?.active ?? []).length >= MAX_ACTIVE_RUNS) return { ...base, waiting: new Date(time) }
  return { ...base, due: { id: runIdOf(schedule.metadata.uid, new Date(time)), time: new Date(time), lateMilliseconds } }
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
    if (error instanceof CronError) return error.message
    throw error
  }
}

/** Runs that were due until then are done, or existed before the schedule. */
function handledUntil({ metadata, status }: StoredSchedule, now: Date): number {
  const last = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp)
  return last > now.getTime() + CLOCK_TOLERANCE_MILLISECONDS ? now.getTime() : last
}

/** Delay of all runs of a schedule in milliseconds: less than `spreadSeconds`, and the same for its whole life. */
export function spreadOf({ metadata, spec }: Pick<StoredSchedule, 'metadata' | 'spec'>): number {
  const range = (spec.spreadSeconds ?? 0) * 1_000
  return range === 0 ? 0 : createHash('sha256').update(metadata.uid).digest().readUInt32BE() % range
}

function evaluate(
  { spec }: StoredSchedule,
  { account, isQuotaSpent, isEverDue }: Pick<Observed, 'account' | 'isQuotaSpent'> & { isEverDue: boolean },
): Finding {
  const name = accountOf({ spec })
  const refused = (reason: ScheduleReason, message: string): Finding => ({ status: 'False', reason, message })
  if (!isEverDue) return refused('NeverDue', `No date within nine years matches ${spec.schedule}. Change spec.schedule.`)
  if (!account) return refused('AccountNotFound', `Account ${name} does not exist. No runs are created.`)
  if (account.spec.suspended) return refused('AccountSuspended', `Account ${name} is suspended. No runs are created.`)
  if (isQuotaSpent) return refused('QuotaExceeded', `The monthly quota of account ${name} is used up. No runs are created.`)
  return { status: 'True', reason: 'Scheduled', message: 'Runs are created when they are due.' }
}

/** Which runs exist after this reconcile. */
export interface Progress {
  open: readonly ActiveRun[]
  ended: readonly RecentRun[]
  /** Time of the run that was created, or found. */
  handled?: Date | undefined
}

/** Builds the status after a reconcile; undefined when it is up to date. */
export function buildStatus({ metadata, spec, status = {} }: StoredSchedule, decision: Decision, progress: Progress, now: Date) {
  const recentRuns = mergeRuns(status.recentRuns ?? [], progress.ended)
  const success = newest([
    ...progress.ended.filter(({ outcome }) => outcome === 'completed').map(({ time }) => time),
    status.lastSuccessfulTime,
  ])
  const patch: StatusPatch = {
    conditions: buildConditions(status.conditions ?? [], { decision, last: recentRuns[0], isSuspended: spec.suspend ?? false }, now).map(
      (condition) => ({ ...condition, observedGeneration: metadata.generation ?? 0 }),
    ),
    nextScheduleTime: decision.nextTime?.toISOString() ?? null,
    lastScheduleTime: progress.handled?.toISOString() ?? status.lastScheduleTime ?? null,
    lastSuccessfulTime: success ?? null,
    active: progress.open.length === 0 ? null : [...progress.open].sort(byTime).slice(0, MAX_ACTIVE_RUNS),
    recentRuns: recentRuns.length === 0 ? null : recentRuns,
  }
  return isSameStatus(patch, status) ? undefined : patch
}

const byTime = (one: { time: string }, other: { time: string }): number => Date.parse(other.time) - Date.parse(one.time)

/** The last runs, newest first. */
function mergeRuns(known: readonly RecentRun[], ended: readonly RecentRun[]): RecentRun[] {
  const ids = new Set(ended.map(({ id }) => id))
  return [...ended, ...known.filter(({ id }) => !ids.has(id))].sort(byTime).slice(0, MAX_RECENT_RUNS)
}

const newest = (times: readonly (string | undefined)[]): string | undefined =>
  times.reduce((one, other) => (one === undefined || (other !== undefined && Date.parse(other) > Date.parse(one)) ? other : one), undefined)

interface ConditionInputs {
  decision: Decision
  last: RecentRun | undefined
  isSuspended: boolean
}

function buildConditions(found: readonly Condition[], { decision, last, isSuspended }: ConditionInputs, now: Date): Condition[] {
  const suspended = isSuspended
    ? ({ status: 'True', reason: 'Suspended', message: 'spec.suspend is true. No runs are created.' } as const)
    : ({ status: 'False', reason: 'Active', message: 'spec.suspend is not true.' } as const)
  const conditions = setCondition(
    setCondition(found, { type: ConditionType.ready, ...decision.ready }, now),
    { type: ConditionType.suspended, ...suspended },
    now,
  )
  return last ? setCondition(conditions, { type: ConditionType.lastRunSucceeded, ...toOutcome(last) }, now) : conditions
}

function toOutcome({ outcome, code }: RecentRun): Pick<Condition, 'status' | 'reason' | 'message'> {
  if (outcome === 'completed') return { status: 'True', reason: 'Completed', message: 'The last run completed.' }
  if (outcome === 'deleted') return { status: 'Unknown', reason: 'Deleted', message: 'The last run was deleted.' }
  return { status: 'False', reason: toReason(code ?? 'INTERNAL_ERROR'), message: `The last run failed with ${code ?? 'INTERNAL_ERROR'}.` }
}

function isSameStatus(patch: StatusPatch, status: ScreenshotScheduleStatus): boolean {
  const { conditions = [], ...rest } = patch
  const isSame = (name: keyof typeof rest) => JSON.stringify(toComparable(rest[name])) === JSON.stringify(toComparable(status[name]))
  const isEach = (conditions ?? []).every((condition) => isSameCondition(condition, findCondition(status.conditions, condition.type)))
  return isEach && (Object.keys(rest) as (keyof typeof rest)[]).every(isSame)
}

/** The API server changes the order of fields, and null means absent. */
function toComparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toComparable)
  if (value === null || value === undefined) return null
  return typeof value === 'object' ? Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)) : value
}
