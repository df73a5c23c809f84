import { attemptMilliseconds, UPLOAD_GRACE_MILLISECONDS } from '@tintype/crds/dispatch/dispatch'
import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { CaptureResult, RunnerClaim, Screenshot, ScreenshotStatus } from '@tintype/crds/kinds/screenshot'
import { withDefaults } from '@tintype/crds/options/catalog'
import { accountOf } from '@tintype/crds/records/record'
import { objectKey } from '@tintype/crds/records/storage-keys'
import { type Condition, ConditionType, findCondition, Reason, setCondition, toReason } from '@tintype/crds/schema/conditions'
import type { JobErrorCode } from '@tintype/crds/schema/errors'
import { toShortUrl } from '@tintype/crds/schema/fields'
import type { ScreenshotReason } from '../../kube/condition-reasons.ts'

// Builds the status patches of the operator, as merge patches: null removes a field. Pure.

/** Maximum number of attempts on pods that are not at fault. */
export const MAX_ATTEMPTS = 3

/** A merge patch of the status. */
export type StatusPatch = { [Field in keyof ScreenshotStatus]?: ScreenshotStatus[Field] | null }

const MAX_MESSAGE = 1_024
/** Maximum of the schema. */
const MAX_COUNT = 100

/** Number of attempts begun so far. */
export const attemptsOf = ({ status }: Pick<Screenshot, 'status'>): number => status?.attempt ?? 0

/** True while no runner was requested for it. */
export const isNew = ({ status = {} }: Pick<Screenshot, 'status'>): boolean =>
  (status.phase ?? 'Pending') === 'Pending' && (status.attempt ?? 0) === 0 && (status.handedBack ?? 0) === 0

/** True for an attempt during which the runner takes no other picture, so that only this page can have ended the pod. */
export const isAlone = (shot: Screenshot): boolean => attemptsOf(shot) > 1

/** Deadline of the open attempt. */
export function deadlineOf({ spec, status }: Pick<Screenshot, 'spec' | 'status'>): Date {
  return new Date(Date.parse(status?.startTime ?? '') + attemptMilliseconds(spec.options, isWatched(spec)))
}

/** Whether the schedule of a run compares its runs. */
export const isWatched = ({ scheduleRef }: Pick<Screenshot['spec'], 'scheduleRef'>): boolean => scheduleRef?.wasFit !== undefined

/** Time from which the open attempt cannot upload any more. */
export const uploadExpiryOf = (shot: Pick<Screenshot, 'spec' | 'status'>): Date =>
  new Date(deadlineOf(shot).getTime() + UPLOAD_GRACE_MILLISECONDS)

/**
 * Fields that help users of kubectl to find the record, the file and the page. They are part of a write before a runner may write; the
 * admission policy keeps runners from changing them. Programs never read them.
 */
function describe({
  metadata,
  spec,
}: Pick<Screenshot, 'metadata' | 'spec'>): Pick<Required<ScreenshotStatus>, 'id' | 'storagePath' | 'url'> {
  const id = screenshotIdOf(metadata)
  const { format } = withDefaults(spec.options)
  return { id, storagePath: objectKey(accountOf({ spec }), id, format), url: toShortUrl(spec.url) }
}

const CHARGED = {
  type: ConditionType.charged,
  status: 'True',
  reason: 'ChargedAtClaim',
  message: 'One unit of the monthly quota was charged.',
} as const

/** Builds the claim: from now on only this pod may report. `isCharged`: the account has just been charged. */
export function buildClaim(shot: Screenshot, runner: RunnerClaim, now: Date, isCharged = false): StatusPatch {
  const attempt = attemptsOf(shot) + 1
  const conditions = runnable(pending(shot, Reason.capturing, `attempt ${attempt} on pod ${runner.pod}`, now), now)
  return {
    ...describe(shot),
    phase: 'Running',
    runner,
    attempt,
    startTime: now.toISOString(),
    completionTime: null,
    result: null,
    conditions: isCharged ? setCondition(conditions, CHARGED, now) : conditions,
  }
}

/** Reason and consequences of releasing a claim. */
export interface Unclaim {
  reason: ScreenshotReason
  message: string
  /** False when the attempt does not count, because it never began. */
  counts: boolean
  lost: boolean
  /** The runner is at fault and gets no orders for a backoff time. */
  blamesRunner?: boolean
}

/** Releases the claim: the Screenshot is queued again. */
export function buildUnclaim(shot: Screenshot, { reason, message, counts, lost }: Unclaim, now: Date): StatusPatch {
  const attempt = counts ? attemptsOf(shot) : attemptsOf(shot) - 1
  return {
    phase: 'Pending',
    runner: null,
    startTime: null,
    attempt: attempt > 0 ? attempt : null,
    ...(reason === Reason.handedBack ? { handedBack: Math.min(MAX_COUNT, (shot.status?.handedBack ?? 0) + 1) } : {}),
    ...(lost ? { lostRunners: (shot.status?.lostRunners ?? 0) + 1 } : {}),
    conditions: pending(shot, reason, message, now),
  }
}

/** Sets the reason why it is waiting, and the identifying fields. */
export function buildNote(shot: Screenshot, reason: ScreenshotReason, message: string, now: Date): StatusPatch {
  return { ...describe(shot), conditions: pending(shot, reason, message, now) }
}

/** Sets the reason why it cannot run. The transition time of this condition decides when it fails. */
export function buildUnrunnable(shot: Screenshot, reason: ScreenshotReason, message: string, now: Date): StatusPatch {
  const condition = { type: ConditionType.runnable, status: 'False', reason, message } as const
  return { conditions: setCondition(pending(shot, reason, message, now), condition, now) }
}

/** Clears the reason why it could not run. */
export const buildCleared = (shot: Screenshot, now: Date): StatusPatch => ({
  conditions: runnable(pending(shot, Reason.queued, WAITS, now), now),
})

/** Why a Screenshot failed; `reason`: the condition's reason, when it differs from that of the code. */
export interface Failure {
  code: JobErrorCode
  message: string
  reason?: string | undefined
}

/** Sets the conditions Succeeded and Finished. */
function ended({ status }: Screenshot, finding: Pick<Condition, 'status' | 'reason' | 'message'>, now: Date): Condition[] {
  const succeeded = setCondition(status?.conditions ?? [], { type: ConditionType.succeeded, ...finding }, now)
  const message = finding.status === 'True' ? finding.message : 'failed'
  return setCondition(succeeded, { type: ConditionType.finished, status: 'True', reason: finding.reason, message }, now)
}

/** Completes it with a failure. */
export function buildFailure(shot: Screenshot, { code, message, reason = toReason(code) }: Failure, now: Date): StatusPatch {
  const text = message.slice(0, MAX_MESSAGE)
  return {
    ...describe(shot),
    phase: 'Failed',
    completionTime: now.toISOString(),
    result: { error: { code, message: text } },
    conditions: ended(shot, { status: 'False', reason, message: text }, now),
  }
}

/** Completes it with an existing picture, without a runner and an attempt. */
export function buildReuse(shot: Screenshot, found: CaptureResult, began: Date, now: Date): StatusPatch {
  const result = { ...found, processingMilliseconds: Math.max(0, now.getTime() - began.getTime()) }
  const message = `${found.format}, ${found.size ?? 'a picture'}, reused from an earlier capture`
  return {
    ...describe(shot),
    phase: 'Completed',
    startTime: began.toISOString(),
    completionTime: now.toISOString(),
    result,
    conditions: ended(shot, { status: 'True', reason: Reason.cached, message }, now),
  }
}

/** Completes it with the result of an archived record, whose id and file it shows. */
export function buildRestored(shot: Screenshot, record: Screenshot, now: Date): StatusPatch {
  const id = screenshotIdOf(record.metadata)
  const { startTime, completionTime, result } = record.status ?? {}
  const message = `${result?.format ?? 'a file'}, ${result?.size ?? 'a picture'}, of the archived record ${id}`
  return {
    ...describe(record),
    phase: 'Completed',
    restoredFrom: id,
    ...(startTime === undefined ? {} : { startTime }),
    completionTime: completionTime ?? now.toISOString(),
    result: result ?? {},
    conditions: ended(shot, { status: 'True', reason: Reason.restored, message }, now),
  }
}

/** Reason of the condition Succeeded. */
export const reasonOf = ({ status }: Pick<Screenshot, 'status'>): string | undefined =>
  findCondition(status?.conditions, ConditionType.succeeded)?.reason

/** Message of the condition Succeeded. */
export const messageOf = ({ status }: Pick<Screenshot, 'status'>): string | undefined =>
  findCondition(status?.conditions, ConditionType.succeeded)?.message

const WAITS = 'Waiting for a runner.'

/** Sets Runnable=True if it was False. */
function runnable(conditions: readonly Condition[], now: Date): Condition[] {
  if (findCondition(conditions, ConditionType.runnable)?.status !== 'False') return [...conditions]
  return setCondition(conditions, { type: ConditionType.runnable, status: 'True', reason: Reason.queued, message: WAITS }, now)
}

function pending({ status }: Screenshot, reason: ScreenshotReason, message: string, now: Date) {
  return setCondition(status?.conditions ?? [], { type: ConditionType.succeeded, status: 'Unknown', reason, message }, now)
}
