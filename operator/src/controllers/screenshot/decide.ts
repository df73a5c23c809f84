/**
 * Decides the next actions for one Screenshot. Pure: the same observation at the same time gives the same actions; apply.ts executes them.
 *
 * A claim ends in one of four ways: the runner reports (nothing is left to do here), the page is blamed for the loss of the runner, the
 * attempt ends and another follows, or it never began. Another attempt may begin only when the pod of the previous one cannot upload any
 * more. So a claim is kept, with the reason in its condition, until that pod no longer exists or its upload URL has expired.
 */

import { type GivenUp, STOPPING } from '@tintype/crds/dispatch/dispatch'
import { isFinished, type RunnerClaim, type Screenshot } from '@tintype/crds/kinds/screenshot'
import type { CacheEntry } from '@tintype/crds/records/cache'
import { accountOf } from '@tintype/crds/records/record'
import { Reason } from '@tintype/crds/schema/conditions'
import type { JobErrorCode } from '@tintype/crds/schema/errors'
import type { ScreenshotReason } from '../../kube/condition-reasons.ts'
import { isOrderly, isPageSuspected, type PodEnd, UNKNOWN_END } from '../../runner/pod-state.ts'
import type { CaptureResponse, DispatchOutcome } from '../../runner/runner-client.ts'
import type { ChargeResult } from './charge.ts'
import { attemptsOf, deadlineOf, MAX_ATTEMPTS, messageOf, reasonOf, type Unclaim, uploadExpiryOf } from './status.ts'

/** State of the pod that has the claim, and of its capture. */
export interface ObservedClaim {
  pod: 'up' | 'terminating' | 'ended' | 'gone'
  /** How the pod ended or is about to end, if known. */
  end: PodEnd | undefined
  /** True when the pod has ended, and another account’s capture may be the cause. */
  isShared: boolean
  /** Time by which a terminating pod must have ended. */
  terminatesBy: Date | undefined
  response: CaptureResponse
  /** For an absent attempt: the runner had it and reports why it ended it. */
  givenUp?: GivenUp | undefined
  /** Since when the pod is not ready; undefined while it is ready. */
  unreadySince?: Date | undefined
  /** True when this leader made the claim. */
  isOwn: boolean
  /** True when the runner accepted this leader's order: `absent` then means dropped, not unknown. */
  delivered: boolean
}

export interface Observed {
  shot: Screenshot | undefined
  /** True when its pool exists and records videos if it is one, and its Account if it must still be charged. The pending controller handles those that cannot run. */
  canRun: boolean
  /** True when no gateway has charged it, and it was never claimed before: the claim charges a unit. */
  mustCharge: boolean
  /** The runner that the dispatcher reserved for it. */
  reserved: RunnerClaim | undefined
  /** A picture that it may reuse; only before a runner was requested. */
  cached?: CacheEntry | undefined
  /** The archived record of an equal Screenshot with the same name; only before a runner was requested. */
  archived?: Screenshot | undefined
  /** State of the claim of a running Screenshot. */
  claim: ObservedClaim | undefined
}

export type Action =
  /** Removes it from the queue and releases its runner. */
  | { do: 'release' }
  /** Queues it for a runner. */
  | { do: 'queue' }
  /** Completes it with an existing picture, if the files still exist. */
  | { do: 'reuse'; entry: CacheEntry }
  /** Completes it with the result of its archived record. */
  | { do: 'restore'; record: Screenshot }
  /** Deletes files of an earlier attempt. */
  | { do: 'removeFiles' }
  /** Charges a unit of the account, or ends the claim that follows. */
  | { do: 'charge' }
  | { do: 'claim'; runner: RunnerClaim; isCharged: boolean }
  | { do: 'dispatch' }
  | { do: 'note'; reason: ScreenshotReason; message: string }
  | ({ do: 'unclaim' } & Unclaim)
  /** `reason`: the condition's reason, when it differs from that of the code. */
  | { do: 'fail'; code: JobErrorCode; message: string; reason?: string }
  | { do: 'cancel' }
  | { do: 'deletePod'; force: boolean }
  | { do: 'requeue'; afterMilliseconds: number }

/** Poll interval for a runner that has not responded or is about to end. */
export const POLL_MILLISECONDS = 2_000
/** Poll interval for a working runner. CaptureWatcher notices its end at once; this covers lost responses. */
export const WORKING_POLL_MILLISECONDS = 10_000
/** How long another leader may still send the order of its own claim: a leader that was suspended may be sending it now. */
export const FOREIGN_CLAIM_MILLISECONDS = 10_000
/** How long after its deadline an attempt may still report. */
export const DEADLINE_GRACE_MILLISECONDS = 3_000
/** How long a runner may repeat its report while the API server is unavailable. */
export const REPORT_MILLISECONDS = 600_000
/** How long a pod may exist after its grace period before it is force-deleted. */
export const FORCE_AFTER_MILLISECONDS = 5_000
/** How long a runner may not respond while its pod is not ready, before its attempt is ended. */
export const UNREADY_MILLISECONDS = 30_000
/** Tolerated clock difference between this leader and the one that made a claim. */
export const CLOCK_TOLERANCE_MILLISECONDS = 120_000
/** How often a Screenshot may be returned without counting an attempt: otherwise a page could be captured forever. */
const MAX_HANDED_BACK = 5
/** Number of lost pods with the same Screenshot after which the page is blamed. */
const MAX_LOST_RUNNERS = 2

export function decide(observed: Observed, now: Date): Action[] {
  const { shot } = observed
  if (!shot || shot.metadata.deletionTimestamp || isFinished(shot)) return [{ do: 'release' }]
  return shot.status?.phase === 'Running' ? decideRunning(shot, observed.claim, now) : decidePending(shot, observed)
}

/** Decides what follows from the result of a charge. Undefined: the claim; otherwise, its runner is released. */
export function decideAfterCharge(shot: Screenshot, result: ChargeResult): Action[] | undefined {
  if (typeof result === 'object') return [{ do: 'release' }, { do: 'requeue', afterMilliseconds: result.waitMilliseconds }]
  const account = accountOf(shot)
  switch (result) {
    case 'charged':
      return undefined
    case 'quota': {
      const message = `the monthly quota of the account ${account} is used up`
      return [{ do: 'release' }, { do: 'fail', code: 'USAGE_LIMIT_REACHED', reason: 'QuotaExceeded', message }]
    }
    case 'suspended':
      return [{ do: 'release' }, { do: 'fail', code: 'ACCOUNT_SUSPENDED', message: `the account ${account} is suspended` }]
    case 'missing': {
      const reason = 'AccountNotFound'
      const note: Action = { do: 'note', reason, message: `Account ${account} does not exist, or was deleted` }
      return reasonOf(shot) === reason ? [{ do: 'release' }] : [{ do: 'release' }, note]
    }
  }
}

/** Decides what follows from the outcome of a dispatch. Unusable options are an error of the Screenshot, so no other attempt is made. */
export function decideAfterDispatch(shot: Screenshot, result: DispatchOutcome | OptionsError): Action[] {
  if (result instanceof OptionsError) return [{ do: 'fail', code: result.code, message: result.message }]
  const pod = shot.status?.runner?.pod
  switch (result.outcome) {
    case 'accepted':
    case 'silent':
    case 'unsent':
      return [{ do: 'requeue', afterMilliseconds: result.outcome === 'accepted' ? WORKING_POLL_MILLISECONDS : POLL_MILLISECONDS }]
    case 'busy':
      return [{ do: 'unclaim', reason: Reason.runnerBusy, message: `pod ${pod} was busy with another capture`, ...NEVER_BEGAN }]
    case 'unavailable':
      return [{ do: 'unclaim', reason: Reason.runnerBusy, message: `pod ${pod} was not ready`, ...NEVER_BEGAN }]
    case 'refused':
      return endAttempt(Reason.attemptFailed, `pod ${pod} rejected the order (${refusalOf(result)})`)
  }
}

const NEVER_BEGAN = { counts: false, lost: false, blamesRunner: true } as const

function decidePending(shot: Screenshot, { canRun, mustCharge, reserved, cached, archived }: Observed): Action[] {
  const begun = attemptsOf(shot)
  if (archived) return [{ do: 'release' }, { do: 'restore', record: archived }]
  if (cached) return [{ do: 'release' }, { do: 'reuse', entry: cached }]
  if (begun >= MAX_ATTEMPTS) return [{ do: 'release' }, exhausted(shot)]
  if (reserved && canRun)
    return [
      ...(begun > 0 || wasHandedBack(shot) ? [{ do: 'removeFiles' } as const] : []),
      ...(mustCharge ? [{ do: 'charge' } as const] : []),
      { do: 'claim', runner: reserved, isCharged: mustCharge },
      { do: 'dispatch' },
    ]
  return [{ do: canRun ? 'queue' : 'release' }]
}

function decideRunning(shot: Screenshot, claim: ObservedClaim | undefined, now: Date): Action[] {
  const { runner, startTime } = shot.status!
  if (!runner || !startTime || !claim) return [retry(shot, Reason.attemptFailed, 'the claim was incomplete')]
  if (claim.pod === 'gone' || claim.pod === 'ended') return afterPod(shot, claim.end ?? UNKNOWN_END, claim.isShared)
  if (isOver(shot)) return awaitPod(shot, claim, now)
  if (claim.givenUp) return afterGivingUp(shot, claim.givenUp)
  if (claim.pod === 'terminating' && (claim.response === 'silent' || (claim.response === 'absent' && claim.delivered)))
    return awaitPod(shot, claim, now)
  // Another leader wrote the start time with its own clock. The runner enforces the deadline itself.
  const tolerance = claim.isOwn ? 0 : CLOCK_TOLERANCE_MILLISECONDS
  const leftMilliseconds = deadlineOf(shot).getTime() + DEADLINE_GRACE_MILLISECONDS + tolerance - now.getTime()
  switch (claim.response) {
    case 'running':
      return leftMilliseconds > 0 ? [poll(leftMilliseconds, WORKING_POLL_MILLISECONDS)] : overrun(shot)
    case 'reporting':
      return leftMilliseconds + REPORT_MILLISECONDS > 0 ? [poll(POLL_MILLISECONDS)] : overrun(shot)
    case 'silent':
      if (now.getTime() - (claim.unreadySince?.getTime() ?? now.getTime()) > UNREADY_MILLISECONDS)
        return endAttempt(Reason.runnerLost, `pod ${runner.pod} did not respond, and its readiness probe failed`)
      return leftMilliseconds > 0
        ? [poll(leftMilliseconds)]
        : endAttempt(Reason.runnerLost, `pod ${runner.pod} did not respond by its deadline`)
    case 'done':
      return endAttempt(Reason.attemptFailed, `pod ${runner.pod} ended without a report`)
    case 'absent':
      if (claim.delivered) return endAttempt(Reason.attemptFailed, `pod ${runner.pod} could not finish`)
      return claim.isOwn || isOld(startTime, now) ? redispatch(runner, leftMilliseconds) : [poll(leftMilliseconds)]
  }
}

/**
 * The pod has ended and cannot upload: start the next attempt, or fail. A page is not suspected if the pod was shared: the runner makes second
 * attempts alone, so a page that ends pods is found then.
 */
function afterPod(shot: Screenshot, end: PodEnd, isShared: boolean): Action[] {
  const pod = shot.status?.runner?.pod
  const reason = reasonOf(shot)
  if (reason === Reason.attemptFailed) return [retry(shot, Reason.attemptFailed, messageOf(shot)!)]
  // For a pod that was deleted because it did not respond, this is the reported cause, unless its node was lost.
  const wasSilent = reason === Reason.runnerLost
  if (!wasSilent && isOrderly(end)) return [handBack(shot, `pod ${pod}: ${end.text}`)]
  const how = wasSilent && end.cause !== 'nodeLost' ? messageOf(shot) : end.text
  const lossMessage = `pod ${pod} was lost in attempt ${attemptsOf(shot)}: ${how}`
  const isSuspected = !isShared && (isPageSuspected(end) || (wasSilent && isOrderly(end)))
  if (!isSuspected) return [retry(shot, Reason.runnerLost, lossMessage, false)]
  const lost = (shot.status?.lostRunners ?? 0) + 1
  if (lost < MAX_LOST_RUNNERS) return [retry(shot, Reason.runnerLost, lossMessage)]
  const isMemory = end.cause === 'outOfMemory'
  const message = isMemory
    ? `the runner ran out of memory with this page ${lost} times`
    : `the runner was lost ${lost} times with this page; the last time: ${how}`
  return [{ do: 'fail', code: 'PAGE_CRASHED', message }]
}

/** The runner is alive, has ended the attempt itself and will not upload: no need to wait. */
function afterGivingUp(shot: Screenshot, { code, message }: GivenUp): Action[] {
  const pod = shot.status?.runner?.pod
  if (code === STOPPING) return [handBack(shot, `pod ${pod}: ${message}`)]
  const action = retry(shot, Reason.attemptFailed, `pod ${pod}, attempt ${attemptsOf(shot)}: ${code}: ${message}`)
  return [action.do === 'unclaim' ? { ...action, blamesRunner: code === 'INTERNAL_ERROR' } : action]
}

/** The end of the pod was requested, so nobody is at fault. The attempt does not count, up to a limit. */
function handBack(shot: Screenshot, message: string): Action {
  const times = (shot.status?.handedBack ?? 0) + 1
  if (times > MAX_HANDED_BACK) return retry(shot, Reason.handedBack, message, false)
  return {
    do: 'unclaim',
    reason: Reason.handedBack,
    message: `${message}. The pod returned the capture, so the attempt does not count`,
    counts: false,
    lost: false,
  }
}

/** True when an attempt that did not count may have left files in the store. */
const wasHandedBack = ({ status }: Screenshot): boolean => (status?.handedBack ?? 0) > 0

function refusalOf({ status, clockAheadMilliseconds }: Extract<DispatchOutcome, { outcome: 'refused' }>): string {
  const seconds = Math.round(Math.abs(clockAheadMilliseconds) / 1_000)
  const clock =
    seconds === 0 ? '' : `; its node’s clock is ${seconds} s ${clockAheadMilliseconds > 0 ? 'ahead of' : 'behind'} the operator’s`
  return `HTTP ${status}${clock}`
}

/** The attempt is over, but its pod still exists: delete it and wait until it has ended or its upload URL has expired. */
function awaitPod(shot: Screenshot, { pod, terminatesBy, isShared }: ObservedClaim, now: Date): Action[] {
  const expiry = uploadExpiryOf(shot).getTime() - now.getTime()
  if (expiry <= 0) return afterPod(shot, UNKNOWN_END, isShared)
  if (pod !== 'terminating' || !terminatesBy) return [{ do: 'deletePod', force: false }, poll(FORCE_AFTER_MILLISECONDS)]
  const stuckIn = terminatesBy.getTime() + FORCE_AFTER_MILLISECONDS - now.getTime()
  if (stuckIn > 0) return [poll(Math.min(stuckIn, expiry))]
  return [{ do: 'deletePod', force: true }, poll(FORCE_AFTER_MILLISECONDS)]
}

/** True when the condition says that the attempt has failed. It is written before the pod is deleted. */
const isOver = (shot: Screenshot): boolean => reasonOf(shot) === Reason.attemptFailed || reasonOf(shot) === Reason.runnerLost

/** Writes the reason before it deletes the pod, so that a new leader knows it. */
const endAttempt = (reason: ScreenshotReason, message: string): Action[] => [
  { do: 'note', reason, message },
  { do: 'deletePod', force: false },
]

const poll = (leftMilliseconds: number, often = POLL_MILLISECONDS): Action => ({
  do: 'requeue',
  afterMilliseconds: Math.max(1, Math.min(often, leftMilliseconds)),
})

/** The runner responds and is still working: the page took too long. The runner should have ended it, so its pod is deleted. */
const overrun = (shot: Screenshot): Action[] => [
  { do: 'fail', code: 'TIMEOUT', message: `the capture did not finish by its deadline (attempt ${attemptsOf(shot)})` },
  { do: 'cancel' },
  { do: 'deletePod', force: false },
]

const isOld = (startTime: string, now: Date): boolean => now.getTime() - Date.parse(startTime) > FOREIGN_CLAIM_MILLISECONDS

const redispatch = ({ pod }: RunnerClaim, leftMilliseconds: number): Action[] =>
  leftMilliseconds > 0 ? [{ do: 'dispatch' }] : endAttempt(Reason.attemptFailed, `pod ${pod} never got the order`)

function retry(shot: Screenshot, reason: ScreenshotReason, message: string, lost = reason === Reason.runnerLost): Action {
  if (attemptsOf(shot) >= MAX_ATTEMPTS) return exhausted(shot, message)
  return { do: 'unclaim', reason, message, counts: true, lost }
}

const exhausted = (shot: Screenshot, last = messageOf(shot) ?? ''): Action => ({
  do: 'fail',
  code: 'INTERNAL_ERROR',
  message: `${attemptsOf(shot)} attempts failed; the last: ${last}`,
})

/** Options that no attempt can use. `message` is shown to the client and contains no option values. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError'
  readonly code: Extract<JobErrorCode, 'INVALID_OPTIONS' | 'OPTION_NOT_ALLOWED' | 'BASELINE_NOT_FOUND'>

  constructor(message: string, code: OptionsError['code'] = 'INVALID_OPTIONS') {
    super(message)
    this.code = code
  }
}
