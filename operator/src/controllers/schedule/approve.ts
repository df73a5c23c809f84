// Approval of a run: its picture becomes the one that later runs are compared with. A person or the gateway requests it with an annotation,
// and the operator removes the annotation when it has been applied or refused.

import { toObjectName } from '@tintype/crds/identifiers/names'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { ReplacedBaseline, ScheduleBaseline, StoredSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import {
  type ApprovalRefusal,
  chooseRun,
  findApprovalProblem,
  isRunOf,
  isUndoRequest,
  lastApprovalOf,
  toUndoRequest,
  UNDO,
} from '@tintype/crds/records/approval'
import { accountOf } from '@tintype/crds/records/record'
import { baselineOf, timeOfRun } from '@tintype/crds/records/run'
import { baselineKey } from '@tintype/crds/records/storage-keys'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import { findArchived } from '@tintype/crds/storage/archive'
import type { TermDeps } from '../../runtime/deps.ts'
import { type Approval, requestOf } from './approvals.ts'
import { copyPicture, toKept } from './baseline.ts'
import { type EndedRun, lastComparisonOf, mergeRuns } from './ended-runs.ts'

/**
 * Applies the annotation to a schedule. `ended` has the runs that are not in its status yet. Undefined: nothing is requested.
 * @throws RetryableError
 */
export async function approve(schedule: StoredSchedule, ended: readonly EndedRun[], deps: TermDeps): Promise<Approval | undefined> {
  const request = requestOf(schedule)
  if (request === undefined) return undefined
  if (isUndoRequest(request)) return undo(schedule, request, deps)
  const choice = chooseRun(schedule, request, lastComparisonOf(schedule, ended), mergeRuns(schedule, ended))
  if ('refusal' in choice) return { refusal: REFUSALS[choice.refusal](request) }
  const { id } = choice
  const present = baselineOf(schedule)
  if (present && choice.isApproved) return { baseline: present, isNew: false }
  const shot = await findRun(id, schedule, deps)
  const problem = shot ? findApprovalProblem(shot, schedule) : { message: 'is not a run of this schedule, or was deleted' }
  if (!shot || problem) return { refusal: `Run ${id} ${problem?.message}.` }
  const baseline = await copyPicture(schedule, shot, timeOfRun(shot), deps.storage)
  return baseline ? { baseline, isNew: true } : { refusal: `The file of run ${id} has expired. Approve a later run.` }
}

/** Returns to the picture that the last approval replaced. @throws RetryableError */
async function undo(schedule: StoredSchedule, request: string, deps: TermDeps): Promise<Approval> {
  if (schedule.spec.comparison?.baseline !== 'Approved') return { refusal: REFUSALS.mode(request) }
  const last = lastApprovalOf(schedule)
  const named = request === UNDO ? last : schedule.status?.approvals?.find((one) => toUndoRequest(one) === request)
  if (!named) return { refusal: 'There is no approval to undo.' }
  if (named.undoneTime !== undefined) return { undone: named, baseline: baselineOf(schedule), isNew: false }
  if (named !== last) return { refusal: `Run ${named.id} is not the run that was approved last. Approve the run that you want.` }
  if (request === UNDO) return { request: toUndoRequest(named) }
  if (!named.replaced) return { undone: named, baseline: undefined, isNew: true }
  const baseline = await findReplaced(schedule, named.replaced, deps)
  return baseline
    ? { undone: named, baseline, isNew: true }
    : { refusal: `The picture of run ${named.replaced.id} is gone. Approve another run.` }
}

/** The picture that an approval replaced; undefined: it is gone, or its run was deleted. @throws RetryableError */
async function findReplaced(
  schedule: StoredSchedule,
  { id, time, etag, textEtag }: ReplacedBaseline,
  deps: TermDeps,
): Promise<ScheduleBaseline | undefined> {
  const key = baselineKey(accountOf(schedule), schedule.metadata.uid, id)
  const shot = await findRun(id, schedule, deps)
  return shot && etag !== undefined && (await deps.storage.exists(key)) ? toKept(shot, { time, key, etag, textEtag }) : undefined
}

const REFUSALS: Readonly<Record<ApprovalRefusal, (request: string) => string>> = {
  mode: () => 'Set spec.comparison.baseline to Approved first.',
  none: () => 'No run has succeeded yet.',
  id: (request) => `${request.slice(0, 64)} is not the id of a run. Use an id such as scr_…, or latest.`,
}

/** A run of the schedule, live or archived. */
async function findRun(id: string, schedule: StoredSchedule, deps: TermDeps): Promise<Screenshot | undefined> {
  const account = accountOf(schedule)
  const live = deps.reflectors.screenshots.lister.get(`${deps.config.namespace}/${toObjectName(id)}`)
  const shot = live && !isBeingDeleted(live) ? live : await findArchived(account, id, deps)
  return shot && isRunOf(shot, id, schedule) ? shot : undefined
}
