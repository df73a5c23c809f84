import { isScreenshotId, screenshotIdOf } from '../identifiers/ids.ts'
import type { Engine, FormKind, IgnoredElements, UnfitReason } from '../kinds/comparison.ts'
import type { Screenshot } from '../kinds/screenshot.ts'
import type { LastComparison, RecentRun, RunApproval, StoredSchedule } from '../kinds/screenshot-schedule.ts'
import { withDefaults } from '../options/catalog.ts'
import { ImageFormat } from '../options/output/formats.ts'
import { isStatusIn, toStatusRange } from '../options/rules/texts.ts'
import { accountOf, toWireStatus } from './record.ts'
import { baselineOf } from './run.ts'
import { objectKey } from './storage-keys.ts'

// Which run of a schedule an approval names. Every run without a BaselineProblem can be approved while its picture exists, also one that is older
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

// Whether the picture of a screenshot can be compared with later ones. The gateway checks it before it creates a screenshot, the operator before a
// capture.

/** A picture to compare with. */
export interface StoredBaseline {
  key: string
  /** Absent in records of early versions. */
  etag?: string | undefined
  /** Areas that its own capture ignored. */
  ignored?: readonly IgnoredElements[] | undefined
  /** URL of its page after redirects, and the forms that the page shows. Absent in records of early versions. */
  finalUrl?: string | undefined
  forms?: readonly FormKind[] | undefined
  /** What drew the picture. Absent in records of early versions. */
  engine?: Engine | undefined
  /** The visible text of its page. */
  text?: { key: string; etag: string } | undefined
}

/** Why a screenshot cannot be compared with. `message` continues a sentence after its id. */
export interface BaselineProblem {
  reason: 'pending' | 'failed' | 'format' | 'unfit'
  message: string
}

const UNFIT: Readonly<Record<UnfitReason, string>> = {
  blank: 'shows one color and almost nothing else',
  bot_challenge: 'shows a bot challenge instead of the page',
  http_error: 'shows an error page; compare_accept_status accepts its status',
  login: 'shows a login form instead of the page',
  broken_off: 'shows a page whose response broke off',
}

/**
 * What is wrong with a screenshot as a baseline; undefined: nothing. Its file may still have expired.
 * @param acceptedStatus statuses from 400 on that the comparison accepts
 */
export function findBaselineProblem(
  { spec, status }: Pick<Screenshot, 'spec' | 'status'>,
  acceptedStatus: readonly string[] = [],
): BaselineProblem | undefined {
  const { format } = withDefaults(spec.options)
  const state = toWireStatus(status?.phase)
  if (state === 'pending') return { reason: 'pending', message: 'has not completed yet' }
  if (state === 'failed') return { reason: 'failed', message: 'failed, so it has no picture' }
  if (!ImageFormat.safeParse(format).success) return { reason: 'format', message: `is a ${format}, and only pictures can be compared` }
  const { unfit, httpStatus = 0 } = status?.result ?? {}
  if (unfit === undefined || (unfit === 'http_error' && isStatusIn(httpStatus, acceptedStatus.map(toStatusRange)))) return undefined
  return { reason: 'unfit', message: UNFIT[unfit] ?? 'does not show the page' }
}

/** The picture of a screenshot without a {@link BaselineProblem}. */
export function toBaseline(shot: Screenshot): StoredBaseline {
  const { etag, ignored, finalUrl, forms, engine, artifacts = [] } = shot.status?.result ?? {}
  const keyOf = (extension: string) => objectKey(accountOf(shot), screenshotIdOf(shot.metadata), extension)
  const text = artifacts.find(({ type }) => type === 'text')
  return {
    ...{ key: keyOf(withDefaults(shot.spec.options).format), etag, ignored, finalUrl, forms, engine },
    ...(text ? { text: { key: keyOf('txt'), etag: text.etag } } : {}),
  }
}

// The history of approvals, and requests to undo the last one. A request names the approval that it undoes, so that an operator that takes over in
// between does not undo another one.

/** Asks to undo the last approval, in the annotation `tintype.dev/approve`. The operator writes which approval that is. */
export const UNDO = 'undo'

/** Asks to undo this approval. */
export const toUndoRequest = ({ approvalTime }: RunApproval): string => `${UNDO}/${new Date(approvalTime).toISOString()}`

/** Whether a request undoes an approval. */
export const isUndoRequest = (request: string): boolean => request === UNDO || request.startsWith(`${UNDO}/`)

/** The last approval that was not undone. */
export const lastApprovalOf = ({ status }: Pick<StoredSchedule, 'status'>): RunApproval | undefined =>
  status?.approvals?.find(({ undoneTime }) => undoneTime === undefined)

/** Whether the picture that an approval replaced no longer exists. */
export const isPictureGone = ({ replaced }: RunApproval): boolean => replaced !== undefined && replaced.etag === undefined
