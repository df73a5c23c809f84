// Approval of a run: its picture becomes the one that later runs are compared with. A person or the gateway requests it with an annotation,
// and the operator removes the annotation when it has been applied or refused.

import { Annotation, toObjectName } from '@tintype/crds/identifiers/names'
import type { ScheduleBaseline } from '@tintype/crds/kinds/schedule-comparison'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { StoredSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { type ApprovalRefusal, chooseRun, findApprovalProblem, isRunOf } from '@tintype/crds/records/approval'
import { accountOf } from '@tintype/crds/records/record'
import { baselineOf, timeOfRun } from '@tintype/crds/records/run'
import { findArchived } from '@tintype/crds/storage/archive/records'
import type { Storage } from '../../storage/storage.ts'
import { type EndedRun, mergeRuns } from './ended-run.ts'
import { copyPicture, lastComparisonOf } from './keep-baseline.ts'
import type { ObserveDeps } from './observe.ts'

export interface ApproveDeps extends Pick<ObserveDeps, 'namespace' | 'screenshots' | 'report' | 'now'> {
  storage: Pick<Storage, 'readText' | 'exists' | 'copy'>
}

/** Outcome of a request. */
export type Approval =
  /** `isNew`: false if the run was the baseline before. */
  { baseline: ScheduleBaseline; isNew: boolean } | { refusal: string }

/** The value of the annotation; undefined: nothing is requested. */
export const requestOf = ({ metadata }: StoredSchedule): string | undefined => metadata.annotations?.[Annotation.approve]

/**
 * Applies the annotation to a schedule. `ended` has the runs that are not in its status yet. Undefined: nothing is requested.
 * @throws RetryableError
 */
export async function approve(schedule: StoredSchedule, ended: readonly EndedRun[], deps: ApproveDeps): Promise<Approval | undefined> {
  const request = requestOf(schedule)
  if (request === undefined) return undefined
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

const REFUSALS: Readonly<Record<ApprovalRefusal, (request: string) => string>> = {
  mode: () => 'Set spec.comparison.baseline to Approved first.',
  none: () => 'No run has succeeded yet.',
  id: (request) => `${request.slice(0, 64)} is not the id of a run. Use an id such as scr_…, or latest.`,
}

/** A run of the schedule, live or archived. */
async function findRun(id: string, schedule: StoredSchedule, deps: ApproveDeps): Promise<Screenshot | undefined> {
  const account = accountOf(schedule)
  const live = deps.screenshots.get(`${deps.namespace}/${toObjectName(id)}`)
  const shot = live ?? (await findArchived(account, id, deps))
  return shot && isRunOf(shot, id, schedule) ? shot : undefined
}
