import { isScreenshotId, screenshotIdOf } from '../identifiers/ids.ts'
import type { LastComparison } from '../kinds/schedule-comparison.ts'
import type { Screenshot } from '../kinds/screenshot.ts'
import type { RecentRun, StoredSchedule } from '../kinds/screenshot-schedule.ts'
import { type BaselineProblem, findBaselineProblem } from './baseline.ts'
import { accountOf } from './record.ts'
import { baselineOf } from './run.ts'

// Which run of a schedule an approval names. Every run without a problem of baseline.ts can be approved while its picture exists, also one that is older
// than the approved run: otherwise nobody could take back a wrong approval. A person may also approve a login form, which is then part of the page.
// The gateway checks this to respond, the operator before it copies the picture.

/** Names the last compared run in an approval. */
export const LATEST_RUN = 'latest'

/** Why a request names no run. `mode`: the runs of the schedule are not approved. `none`: no run has succeeded. `id`: not the id of a run. */
export type ApprovalRefusal = 'mode' | 'none' | 'id'

/** The run that a request names; `isApproved`: it is the approved one already. */
export type ApprovalChoice = { id: string; isApproved: boolean } | { refusal: ApprovalRefusal }

/**
 * Finds the run that a request names.
 * @param request id of a run; `latest` or empty: the last compared run, else the approved one, else the run that waits
 * @param last the last comparison, if it is newer than the status
 * @param recent ended runs, the newest first, if they are newer than the status
 */
export function chooseRun(
  schedule: StoredSchedule,
  request: string,
  last: LastComparison | undefined = schedule.status?.lastComparison,
  recent: readonly RecentRun[] = schedule.status?.recentRuns ?? [],
): ApprovalChoice {
  if (schedule.spec.comparison?.baseline !== 'Approved') return { refusal: 'mode' }
  const approved = baselineOf(schedule)
  const id =
    request === '' || request === LATEST_RUN
      ? (last?.id ?? approved?.id ?? waitingRunOf({ comparison: schedule.spec.comparison, status: schedule.status }, recent))
      : request
  if (id === undefined) return { refusal: 'none' }
  return isScreenshotId(id) ? { id, isApproved: id === approved?.id } : { refusal: 'id' }
}

/** The first run that shows the page, if it waits for a person to approve it. */
export function waitingRunOf(
  { comparison, status }: { comparison: StoredSchedule['spec']['comparison']; status: StoredSchedule['status'] },
  recent: readonly RecentRun[] = status?.recentRuns ?? [],
): string | undefined {
  const isWaiting = comparison?.baseline === 'Approved' && !status?.baseline
  return isWaiting ? recent.find(({ outcome, unfit }) => outcome === 'completed' && unfit === undefined)?.id : undefined
}

/** What is wrong with a run that a person approves; undefined: nothing. Its file may still have expired. */
export function findApprovalProblem(run: Screenshot, { spec }: Pick<StoredSchedule, 'spec'>): BaselineProblem | undefined {
  const problem = findBaselineProblem(run, spec.comparison?.acceptStatus)
  return problem?.reason === 'unfit' && run.status?.result?.unfit === 'login' ? undefined : problem
}

/** Whether a screenshot is the run of this schedule with this id, in the account that the schedule has now. */
export const isRunOf = (shot: Screenshot, id: string, { metadata, spec }: StoredSchedule): boolean =>
  screenshotIdOf(shot.metadata) === id && shot.spec.scheduleRef?.uid === metadata.uid && accountOf(shot) === accountOf({ spec })
