// The Events of a schedule after a reconcile. Pure.

import type { LastComparison, StoredSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { waitingRunOf } from '@tintype/crds/records/approval'
import { findCondition } from '@tintype/crds/schema/conditions'
import { SCHEDULE_REASONS } from '../../kube/condition-reasons.ts'
import type { Approval } from './approvals.ts'
import { isCarrying } from './baseline.ts'
import { describeNewMoving, type EndedRun, findChanges, findFitnessChanges, mergeRuns, toFitCondition, toShare } from './ended-runs.ts'
import type { Decision } from './status.ts'

/** `once`: this leader reports it only once for a schedule. */
export interface ScheduleEvent {
  type: 'warn' | 'normal'
  reason: string
  message: string
  once?: string
}

/** Words of each kind in an Event. */
const MAX_WORDS = 5

/**
 * Finds the Events of a reconcile. `before` is the schedule as it was observed, and `after` has the picture that later runs are compared with.
 */
export const findEvents = (
  before: StoredSchedule,
  decision: Decision,
  ended: readonly EndedRun[],
  after: StoredSchedule,
): ScheduleEvent[] => [
  ...ofReadiness(before, decision),
  ...ofRuns(before, decision),
  ...ofChanges(before, decision, ended),
  ...ofFitness(after, ended),
  ...ofMoving(before, decision, ended),
]

/** One Event when a schedule stops or resumes. */
function ofReadiness({ status }: StoredSchedule, { ready: { status: isReady, reason, message } }: Decision): ScheduleEvent[] {
  const before = findCondition(status?.conditions, 'Ready')
  if (before?.reason === reason) return []
  if (SCHEDULE_REASONS[reason]) return [{ type: 'warn', reason, message }]
  return before?.status === 'False' && isReady === 'True' ? [{ type: 'normal', reason, message }] : []
}

/** One Event for each run that is missed, skipped or waits. */
function ofRuns({ spec, status }: StoredSchedule, { missed, waiting, skipped, nextTime }: Decision): ScheduleEvent[] {
  const events: ScheduleEvent[] = []
  const warn = (reason: string, message: string) => events.push({ type: 'warn', reason, message, once: message })
  if (missed) warn('RunMissed', `The run of ${missed.toISOString()} was not started within its deadline.`)
  // Once for each next run, also after a change of the leader.
  if (skipped && nextTime && nextTime.getTime() !== Date.parse(status?.nextScheduleTime ?? '')) {
    const message = `${skipped} does not exist in ${spec.timeZone}, because clocks go forward, so it has no run. The next run is at ${nextTime.toISOString()}. To run on that day, choose a time outside the skipped hour.`
    events.push({ type: 'warn', reason: 'RunSkipped', message })
  }
  if (waiting) warn('RunWaiting', `The run of ${waiting.toISOString()} waits until the previous one has ended.`)
  return events
}

/** One Event for each change, and for a baseline that was replaced or lost. */
function ofChanges({ spec, status }: StoredSchedule, decision: Decision, ended: readonly EndedRun[]): ScheduleEvent[] {
  const events: ScheduleEvent[] = findChanges(status?.lastComparison, ended).map((found) => {
    const { id, to, changedRatio = 0, sizeChanged } = found
    const size = sizeChanged ? ' The size changed.' : ''
    const place = describePlace(ended.find((run) => run.id === id))
    const message = `Run ${id} differs from run ${to} in ${toShare(changedRatio)} of the pixels.${size}${place}${describeWords(found)}`
    return { type: 'normal', reason: 'Changed', message }
  })
  const baseline = status?.baseline
  const carrying = baseline && ended.find((run) => isCarrying(run, baseline))
  if (carrying) {
    const message = `Another browser or other fonts drew run ${carrying.id}. It shows the same as run ${baseline.id}, so later runs are compared with it.`
    events.push({ type: 'normal', reason: 'EngineChanged', message })
  }
  if (decision.baseline.isLost) {
    const { baseline: mode, approveFirst = false } = spec.comparison ?? {}
    const next = mode === 'Approved' && !approveFirst ? 'Approve another run.' : 'The next successful run replaces it.'
    events.push({ type: 'warn', reason: 'BaselineLost', message: `The picture that runs are compared with no longer exists. ${next}` })
  }
  return events
}

/** One Event when runs no longer show the page, or show it again, and one for a run that waits for approval. */
function ofFitness(schedule: StoredSchedule, ended: readonly EndedRun[]): ScheduleEvent[] {
  const events = findFitnessChanges(schedule, ended).map(
    (run): ScheduleEvent =>
      run.unfit === undefined
        ? { type: 'normal', reason: 'Fit', message: `Run ${run.id} shows the page again.` }
        : { type: 'warn', reason: 'Unfit', message: toFitCondition(run).message },
  )
  const { spec, status } = schedule
  const waiting = ended.length > 0 ? waitingRunOf({ comparison: spec.comparison, status }, mergeRuns(schedule, ended)) : undefined
  if (waiting === undefined) return events
  const message = `Run ${waiting} waits for approval. Later runs are compared with the run that you approve.`
  return [...events, { type: 'normal', reason: 'WaitingForApproval', message, once: 'approval' }]
}

/** One Event for parts of the page that never rest, when they become known. */
function ofMoving(schedule: StoredSchedule, { moving }: Decision, ended: readonly EndedRun[]): ScheduleEvent[] {
  const message = describeNewMoving(schedule, ended, moving)
  return message === undefined ? [] : [{ type: 'normal', reason: 'StillMoving', message }]
}

/** The outcome of a request to approve a run, or to undo the last approval. */
export function describeApproval(approval: Approval): ScheduleEvent[] {
  if ('refusal' in approval) return [{ type: 'warn', reason: 'ApprovalRefused', message: approval.refusal }]
  if (!('isNew' in approval && approval.isNew)) return []
  if (!('undone' in approval)) return [{ type: 'normal', reason: 'Approved', message: `Run ${approval.baseline.id} was approved.` }]
  const next = approval.baseline ? `Later runs are compared with run ${approval.baseline.id}.` : 'Approve another run.'
  return [{ type: 'normal', reason: 'ApprovalUndone', message: `The approval of run ${approval.undone.id} was undone. ${next}` }]
}

/** ` The largest of 3 changes is 610 × 44 at 96, 240.` */
function describePlace(run: EndedRun | undefined): string {
  const { regions = [], regionCount = regions.length } = run?.shot?.status?.result?.comparison ?? {}
  const [largest] = regions
  if (!largest) return ''
  const what = regionCount === 1 ? 'The change' : `The largest of ${regionCount} changes`
  return ` ${what} is ${largest.width} × ${largest.height} at ${largest.x}, ${largest.y}.`
}

/** ` Words: −19.50 +99.50.` */
function describeWords({ textChanged, wordsAdded = [], wordsRemoved = [] }: LastComparison): string {
  if (textChanged === undefined) return ''
  if (!textChanged) return ' The text is the same.'
  const words = [...wordsRemoved.slice(0, MAX_WORDS).map((word) => `−${word}`), ...wordsAdded.slice(0, MAX_WORDS).map((word) => `+${word}`)]
  return ` Words: ${words.join(' ')}.`
}
