// Builds the status of a schedule from what was decided. Pure.

import type { MovingParts } from '@tintype/crds/kinds/comparison'
import {
  type ActiveRun,
  type LastChange,
  MAX_ACTIVE_RUNS,
  type RecentRun,
  type RunApproval,
  type ScheduleBaseline,
  type ScreenshotScheduleStatus,
  type SeenTiming,
  type StoredSchedule,
} from '@tintype/crds/kinds/screenshot-schedule'
import { type Condition, ConditionType, findCondition, isSameCondition, setCondition, toReason } from '@tintype/crds/schema/conditions'
import { toShortUrl } from '@tintype/crds/schema/fields'
import { canonical } from '@tintype/crds/text/json'
import type { ScheduleReason } from '../../kube/condition-reasons.ts'
import type { BaselineChange } from './baseline.ts'
import { byTime, type EndedRun, findChanges, fitnessOf, lastComparisonOf, mergeRuns, toFitCondition, toShare } from './ended-runs.ts'

/** A run that must be created now. */
export interface DueRun {
  id: string
  /** Time at which it was due. */
  time: Date
  /** Milliseconds since it should have been created. */
  lateMilliseconds: number
}

export interface Decision {
  ready: Finding
  /** The expression and the zone from now on, and since when they hold. */
  timing: SeenTiming
  baseline: BaselineChange
  /** What moved in the last run. The next run does not wait for it. */
  moving?: MovingParts | undefined
  due?: DueRun
  /** Time of a run that was due and exists from now on. */
  handled?: Date
  /** A missed run that is not made up for, because its deadline has passed. */
  missed?: Date
  /** Time of a due run that waits for the previous one. */
  waiting?: Date
  /** Absent: no run will ever be due. */
  nextTime?: Date
  /** A local time before the next run that does not exist, because clocks go forward: it has no run. */
  skipped?: string
  requeueAfterMilliseconds?: number
}

export type Finding = Pick<Condition, 'status' | 'message'> & { reason: ScheduleReason }

/** A status patch; null removes a field. */
export type StatusPatch = { [Field in keyof ScreenshotScheduleStatus]?: ScreenshotScheduleStatus[Field] | null }

/** Which runs exist after this reconcile. */
export interface Progress {
  open: readonly ActiveRun[]
  ended: readonly EndedRun[]
  /** The picture that the next run is compared with. */
  baseline?: ScheduleBaseline | undefined
  /** The last approvals, the newest first. */
  approvals?: readonly RunApproval[] | undefined
  /** Id of the run that was approved in this reconcile. */
  approvedId?: string | undefined
}

/** Builds the status after a reconcile; undefined when it is up to date. */
export function buildStatus(schedule: StoredSchedule, decision: Decision, progress: Progress, now: Date) {
  const { metadata, spec, status = {} } = schedule
  const recentRuns = mergeRuns(schedule, progress.ended)
  const success = newest([
    ...progress.ended.filter(({ outcome }) => outcome === 'completed').map(({ time }) => time),
    status.lastSuccessfulTime,
  ])
  const patch: StatusPatch = {
    url: toShortUrl(spec.template.url),
    conditions: buildConditions(
      schedule,
      { decision, last: recentRuns[0], ended: progress.ended, fitness: fitnessOf(schedule, progress.ended) },
      now,
    ).map((condition) => ({ ...condition, observedGeneration: metadata.generation ?? 0 })),
    nextScheduleTime: decision.nextTime?.toISOString() ?? null,
    lastScheduleTime: decision.handled?.toISOString() ?? status.lastScheduleTime ?? null,
    lastRunTime: newest([...progress.open, ...recentRuns].map(({ time }) => time).concat(status.lastRunTime ?? [])) ?? null,
    timing: decision.timing,
    lastSuccessfulTime: success ?? null,
    baseline: progress.baseline ?? null,
    approvals: progress.approvals?.length ? [...progress.approvals] : null,
    lastComparison: lastComparisonOf(schedule, progress.ended, progress.approvedId) ?? null,
    moving: decision.moving ?? null,
    lastChange: toLastChange(schedule, progress.ended) ?? null,
    active: progress.open.length === 0 ? null : [...progress.open].sort(byTime).slice(0, MAX_ACTIVE_RUNS),
    recentRuns: recentRuns.length === 0 ? null : recentRuns,
  }
  return isSameStatus(patch, status) ? undefined : patch
}

/** The last run that differed. */
function toLastChange({ spec, status }: StoredSchedule, ended: readonly EndedRun[]): LastChange | undefined {
  if (!spec.comparison) return undefined
  const found = findChanges(status?.lastComparison, ended).at(-1)
  if (!found) return status?.lastChange
  const { id, time, changedRatio } = found
  return { id, time, ...(changedRatio === undefined ? {} : { changedRatio, share: toShare(changedRatio) }) }
}

const newest = (times: readonly (string | undefined)[]): string | undefined =>
  times.reduce((one, other) => (one === undefined || (other !== undefined && Date.parse(other) > Date.parse(one)) ? other : one), undefined)

interface ConditionInputs {
  decision: Decision
  last: RecentRun | undefined
  ended: readonly EndedRun[]
  fitness: RecentRun | undefined
}

function buildConditions({ spec, status }: StoredSchedule, { decision, last, ended, fitness }: ConditionInputs, now: Date): Condition[] {
  const found = (status?.conditions ?? []).filter(({ type }) => type !== ConditionType.fit || spec.comparison)
  const suspended = spec.suspend
    ? ({ status: 'True', reason: 'Suspended', message: 'spec.suspend is true. No runs are created.' } as const)
    : ({ status: 'False', reason: 'Active', message: 'spec.suspend is not true.' } as const)
  const conditions = setCondition(
    setCondition(found, { type: ConditionType.ready, ...decision.ready }, now),
    { type: ConditionType.suspended, ...suspended },
    now,
  )
  const outcome = last && toOutcome(last, ended, findCondition(found, ConditionType.lastRunSucceeded))
  const withLast = outcome ? setCondition(conditions, { type: ConditionType.lastRunSucceeded, ...outcome }, now) : conditions
  return fitness ? setCondition(withLast, toFitCondition(fitness), now) : withLast
}

type Outcome = Pick<Condition, 'status' | 'reason' | 'message'>

/** How the last run ended. Only its Screenshot has the message of a failure, so the condition keeps the message until another run ends. */
function toOutcome(
  { id, outcome, code = 'INTERNAL_ERROR' }: RecentRun,
  ended: readonly EndedRun[],
  before: Condition | undefined,
): Outcome {
  if (outcome === 'completed') return { status: 'True', reason: 'Completed', message: 'The last run completed.' }
  if (outcome === 'deleted') return { status: 'Unknown', reason: 'Deleted', message: 'The last run was deleted.' }
  const beginning = `Run ${id} failed with ${code}`
  const text = ended.find((run) => run.id === id)?.shot?.status?.result?.error?.message
  const known = before?.message.startsWith(beginning) ? before.message : `${beginning}.`
  return { status: 'False', reason: toReason(code), message: text === undefined ? known : `${beginning}: ${text}` }
}

function isSameStatus(patch: StatusPatch, status: ScreenshotScheduleStatus): boolean {
  const { conditions = [], ...rest } = patch
  const isSame = (name: keyof typeof rest) => JSON.stringify(toComparable(rest[name])) === JSON.stringify(toComparable(status[name]))
  const isEach = (conditions ?? []).every((condition) => isSameCondition(condition, findCondition(status.conditions, condition.type)))
  return isEach && (Object.keys(rest) as (keyof typeof rest)[]).every(isSame)
}

/** The API server changes the order of fields, and null means absent. */
const toComparable = (value: unknown): unknown => canonical(value ?? null)
