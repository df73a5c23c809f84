import { attemptMilliseconds, UPLOAD_GRACE_MILLISECONDS } from '@tintype/crds/dispatch/deadline'
import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { CaptureResult, RunnerClaim, Screenshot, ScreenshotStatus } from '@tintype/crds/kinds/screenshot'
import { withDefaults } from '@tintype/crds/options/catalogue'
import { accountOf } from '@tintype/crds/records/record'
import { objectKey } from '@tintype/crds/records/storage-keys'
import { type Condition, ConditionType, findCondition, Reason, setCondition, toReason } from '@tintype/crds/schema/conditions'
import type { JobErrorCode } from '@tintype/crds/schema/errors'
import { toShortUrl } from '@tintype/crds/schema/urls'
import type { ScreenshotReason } from '../kube/condition-reasons.ts'

// The statuses that the operator writes, as merge patches: null takes a field away. Pure.

/** Attempts that a Screenshot gets on pods that are not to blame (spec: 3). */
export const MAX_ATTEMPTS = 3

/** A merge patch of the status. */
export type StatusPatch = { [Field in keyof ScreenshotStatus]?: ScreenshotStatus[Field] | null }

const MAX_MESSAGE = 1_024
/** As the schema has it. */
const MAX_COUNT = 100

/** Attempts that were begun so far. */
export const attemptsOf = ({ status }: Pick<Screenshot, 'status'>): number => status?.attempt ?? 0

/** When the open attempt must be over. */
export function deadlineOf({ spec, status }: Pick<Screenshot, 'spec' | 'status'>): Date {
  return new Date(Date.parse(status?.startTime ?? '') + attemptMilliseconds(spec.options))
}

/** From when on nothing can be uploaded any more that the open attempt was allowed to. */
export const uploadExpiryOf = (shot: Pick<Screenshot, 'spec' | 'status'>): Date =>
  new Date(deadlineOf(shot).getTime() + UPLOAD_GRACE_MILLISECONDS)

/**
 * What a person with kubectl needs to find the record, the file and the page. It goes along with a write that happens anyway, before a runner
 * may write: the admission policy keeps a runner from changing it. Programs never read it.
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
  message: 'one unit of the monthly quota was taken',
} as const

/** The claim: from now on this pod, and no other, may report. `isCharged`: its account has just been charged for it. */
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

/** What taking a claim back says, and whether the attempt counts and the pod was lost. */
export interface Unclaim {
  reason: ScreenshotReason
  message: string
  /** False gives the attempt back: it never began. */
  counts: boolean
  lost: boolean
  /** The runner did not do what it was there for: it rests for a while. */
  blamesRunner?: boolean
}

/** Takes the claim back: the Screenshot waits for another runner. */
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

/** Says why it waits, and which it is. */
export function buildNote(shot: Screenshot, reason: ScreenshotReason, message: string, now: Date): StatusPatch {
  return { ...describe(shot), conditions: pending(shot, reason, message, now) }
}

/** Says why it cannot run. The time at which it was first said decides when it fails. */
export function buildUnrunnable(shot: Screenshot, reason: ScreenshotReason, message: string, now: Date): StatusPatch {
  const condition = { type: ConditionType.runnable, status: 'False', reason, message } as const
  return { conditions: setCondition(pending(shot, reason, message, now), condition, now) }
}

/** Says that it can run after all. */
export const buildCleared = (shot: Screenshot, now: Date): StatusPatch => ({
  conditions: runnable(pending(shot, Reason.queued, WAITS, now), now),
})

/** Why there will be no picture; `reason` is that of the conditions, if another than the code's own. */
export interface Failure {
  code: JobErrorCode
  message: string
  reason?: string | undefined
}

/** The end without a picture. */
export function buildFailure(shot: Screenshot, { code, message, reason = toReason(code) }: Failure, now: Date): StatusPatch {
  const text = message.slice(0, MAX_MESSAGE)
  const failed = { type: ConditionType.succeeded, status: 'False', reason, message: text } as const
  const finished = { type: ConditionType.finished, status: 'True', reason, message: 'failed' } as const
  return {
    ...describe(shot),
    phase: 'Failed',
    completionTime: now.toISOString(),
    result: { error: { code, message: text } },
    conditions: setCondition(setCondition(shot.status?.conditions ?? [], failed, now), finished, now),
  }
}

/** The end with a picture that there was already: no runner, no attempt. */
export function buildReuse(shot: Screenshot, found: CaptureResult, began: Date, now: Date): StatusPatch {
  const result = { ...found, processingMilliseconds: Math.max(0, now.getTime() - began.getTime()) }
  const message = `${found.format}, ${found.size ?? 'a picture'}, taken from an earlier capture`
  const succeeded = { type: ConditionType.succeeded, status: 'True', reason: Reason.cached, message } as const
  const finished = { type: ConditionType.finished, status: 'True', reason: Reason.cached, message } as const
  return {
    ...describe(shot),
    phase: 'Completed',
    startTime: began.toISOString(),
    completionTime: now.toISOString(),
    result,
    conditions: setCondition(setCondition(shot.status?.conditions ?? [], succeeded, now), finished, now),
  }
}

/** Why it is where it is, as its condition says. */
export const reasonOf = ({ status }: Pick<Screenshot, 'status'>): string | undefined =>
  findCondition(status?.conditions, ConditionType.succeeded)?.reason

/** The words that go with it. */
export const messageOf = ({ status }: Pick<Screenshot, 'status'>): string | undefined =>
  findCondition(status?.conditions, ConditionType.succeeded)?.message

const WAITS = 'it waits for a runner'

/** Sets Runnable=True if it was False. */
function runnable(conditions: readonly Condition[], now: Date): Condition[] {
  if (findCondition(conditions, ConditionType.runnable)?.status !== 'False') return [...conditions]
  return setCondition(conditions, { type: ConditionType.runnable, status: 'True', reason: Reason.queued, message: WAITS }, now)
}

function pending({ status }: Screenshot, reason: ScreenshotReason, message: string, now: Date) {
  return setCondition(status?.conditions ?? [], { type: ConditionType.succeeded, status: 'Unknown', reason, message }, now)
}
