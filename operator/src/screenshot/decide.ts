/**
 * What should happen to one Screenshot next. Pure: the same observation at the same instant gives the same actions; apply.ts does them.
 *
 * A claim ends in one of four ways: the runner reports (then nothing is left to do here), the page is to blame for what befell the runner,
 * the attempt is over and another follows, or it never began. Another attempt may begin only when the pod of this one cannot upload any
 * more (decision 39): so a claim is kept, its condition telling why, until that pod is gone or its upload address has expired.
 */
import { Reason } from '@tintype/crds/conditions'
import type { JobErrorCode } from '@tintype/crds/errors'
import { isFinished, type RunnerClaim, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { DEFAULT_POOL } from '@tintype/crds/names'
import type { ScreenshotReason } from '../errors.ts'
import type { CaptureAnswer, PostOutcome } from '../pool/dispatch.ts'
import { attemptsOf, deadlineOf, MAX_ATTEMPTS, messageOf, reasonOf, type Unclaim, uploadExpiryOf } from './status.ts'

/** What is known of the pod that has the claim, and of what it does. */
export interface ObservedClaim {
  pod: 'up' | 'leaving' | 'ended' | 'gone'
  /** How its process ended, if that is known. */
  end: { outOfMemory: boolean; text: string } | undefined
  /** When a pod that was asked to go must have gone. */
  leavesBy: Date | undefined
  answer: CaptureAnswer
  /** This leader has made the claim. */
  isOwn: boolean
  /** This leader's own order was accepted: `absent` then means dropped, not unknown. */
  delivered: boolean
}

export interface Observed {
  shot: Screenshot | undefined
  poolExists: boolean
  /** The runner that the matchmaker keeps for it. */
  reserved: RunnerClaim | undefined
  /** Of a Screenshot that has a claim. */
  claim: ObservedClaim | undefined
}

export type Action =
  /** It needs no runner any more. */
  | { do: 'release' }
  /** It waits for a runner. */
  | { do: 'queue' }
  /** Files of an earlier attempt. */
  | { do: 'removeFiles' }
  | { do: 'claim'; runner: RunnerClaim }
  | { do: 'dispatch' }
  | { do: 'note'; reason: ScreenshotReason; message: string }
  | ({ do: 'unclaim' } & Unclaim)
  /** `reason`: of the conditions, if another than the code's own. */
  | { do: 'fail'; code: JobErrorCode; message: string; reason?: string }
  | { do: 'cancel' }
  | { do: 'deletePod'; force: boolean }
  | { do: 'requeue'; afterMilliseconds: number }

/** How often a runner is asked for a capture. */
export const POLL_MILLISECONDS = 2_000
/** How long the order of a claim that another leader made is left to it: whoever wakes up late may be sending it now. */
export const FOREIGN_CLAIM_MILLISECONDS = 10_000
/** How long after its deadline an attempt may still report on its own. */
export const DEADLINE_GRACE_MILLISECONDS = 3_000
/** How long a runner may repeat its report while the API server is away (decision 37). */
export const REPORT_MILLISECONDS = 600_000
/** How long after its grace period a pod may still be there before it is removed by force. */
export const FORCE_AFTER_MILLISECONDS = 5_000
/** Lost pods with the same Screenshot after which the page is to blame (decision 18). */
const MAX_LOST_RUNNERS = 2

/** See the head of this file. */
export function decide(observed: Observed, now: Date): Action[] {
  const { shot } = observed
  if (!shot || shot.metadata.deletionTimestamp || isFinished(shot)) return [{ do: 'release' }]
  return shot.status?.phase === 'Running' ? decideRunning(shot, observed.claim, now) : decidePending(shot, observed)
}

/** What an answer to an order means. */
export function decideAfterPost(shot: Screenshot, answer: PostOutcome): Action[] {
  const pod = shot.status?.runner?.pod
  switch (answer.outcome) {
    case 'accepted':
    case 'silent':
    case 'unsent':
      return [{ do: 'requeue', afterMilliseconds: POLL_MILLISECONDS }]
    case 'busy':
      return [{ do: 'unclaim', reason: Reason.runnerBusy, message: `pod ${pod} had other work`, counts: false, lost: false }]
    case 'unavailable':
      return [{ do: 'unclaim', reason: Reason.runnerBusy, message: `pod ${pod} was not ready`, counts: false, lost: false }]
    case 'refused':
      return endAttempt(Reason.attemptFailed, `pod ${pod} refused the order (HTTP ${answer.status})`)
  }
}

function decidePending(shot: Screenshot, { poolExists, reserved }: Observed): Action[] {
  const begun = attemptsOf(shot)
  if (begun >= MAX_ATTEMPTS) return [{ do: 'release' }, exhausted(shot)]
  if (reserved) return [...(begun > 0 ? [{ do: 'removeFiles' } as const] : []), { do: 'claim', runner: reserved }, { do: 'dispatch' }]
  if (poolExists) return [{ do: 'queue' }]
  const reason = 'PoolNotFound'
  return reasonOf(shot) === reason ? [] : [{ do: 'note', reason, message: `there is no RunnerPool ${shot.spec.poolName ?? DEFAULT_POOL}` }]
}

function decideRunning(shot: Screenshot, claim: ObservedClaim | undefined, now: Date): Action[] {
  const { runner, startTime } = shot.status ?? {}
  if (!runner || !startTime || !claim) return [retry(shot, Reason.attemptFailed, 'the claim was incomplete')]
  if (claim.pod === 'gone' || claim.pod === 'ended') return afterPod(shot, claim)
  if (isOver(shot)) return awaitPod(shot, claim, now)
  if (claim.pod === 'leaving' && claim.answer === 'silent') return awaitPod(shot, claim, now)
  const leftMilliseconds = deadlineOf(shot).getTime() + DEADLINE_GRACE_MILLISECONDS - now.getTime()
  switch (claim.answer) {
    case 'running':
      return leftMilliseconds > 0 ? [poll(leftMilliseconds)] : overrun(shot)
    case 'reporting':
      return leftMilliseconds + REPORT_MILLISECONDS > 0 ? [poll(POLL_MILLISECONDS)] : overrun(shot)
    case 'silent':
      return leftMilliseconds > 0
        ? [poll(leftMilliseconds)]
        : endAttempt(Reason.runnerLost, `pod ${runner.pod} did not answer and its time was up`)
    case 'done':
      return endAttempt(Reason.attemptFailed, `pod ${runner.pod} ended without a report`)
    case 'absent':
      if (claim.delivered) return endAttempt(Reason.attemptFailed, `pod ${runner.pod} could not finish`)
      return claim.isOwn || isOld(startTime, now) ? redispatch(runner, leftMilliseconds) : [poll(leftMilliseconds)]
  }
}

/** The pod cannot do anything any more: the next attempt, or the end. */
function afterPod(shot: Screenshot, { end }: ObservedClaim): Action[] {
  const pod = shot.status?.runner?.pod
  if (reasonOf(shot) === Reason.attemptFailed) return [retry(shot, Reason.attemptFailed, messageOf(shot) ?? '')]
  const lost = (shot.status?.lostRunners ?? 0) + 1
  const how = end?.text ?? (reasonOf(shot) === Reason.runnerLost ? messageOf(shot) : 'its pod is gone')
  if (lost >= MAX_LOST_RUNNERS) {
    const message = end?.outOfMemory
      ? `the runner ran out of memory with this page ${lost} times`
      : `the runner was lost ${lost} times with this page; the last time: ${how}`
    return [{ do: 'fail', code: 'PAGE_CRASHED', message }]
  }
  return [retry(shot, Reason.runnerLost, `pod ${pod} was lost in attempt ${attemptsOf(shot)}: ${how}`)]
}

/** The attempt is over, its pod not yet: it is made to go, and waited for no longer than it could upload. */
function awaitPod(shot: Screenshot, { pod, leavesBy }: ObservedClaim, now: Date): Action[] {
  const expiry = uploadExpiryOf(shot).getTime() - now.getTime()
  if (expiry <= 0)
    return afterPod(shot, { pod: 'gone', end: undefined, leavesBy: undefined, answer: 'silent', isOwn: false, delivered: false })
  if (pod !== 'leaving') return [{ do: 'deletePod', force: false }, poll(FORCE_AFTER_MILLISECONDS)]
  const stuckIn = (leavesBy?.getTime() ?? 0) + FORCE_AFTER_MILLISECONDS - now.getTime()
  if (stuckIn > 0) return [poll(Math.min(stuckIn, expiry))]
  return [{ do: 'deletePod', force: true }, poll(FORCE_AFTER_MILLISECONDS)]
}

/** True once the condition says that the attempt has failed, which is written before the pod is deleted. */
const isOver = (shot: Screenshot): boolean => reasonOf(shot) === Reason.attemptFailed || reasonOf(shot) === Reason.runnerLost

/** First the reason is written, so that a new leader knows it, then the pod goes. */
const endAttempt = (reason: ScreenshotReason, message: string): Action[] => [
  { do: 'note', reason, message },
  { do: 'deletePod', force: false },
]

const poll = (leftMilliseconds: number): Action => ({
  do: 'requeue',
  afterMilliseconds: Math.max(1, Math.min(POLL_MILLISECONDS, leftMilliseconds)),
})

/** It answers and is still at it: the page, not the runner, took too long; the runner should have ended it and is not trusted again. */
const overrun = (shot: Screenshot): Action[] => [
  { do: 'fail', code: 'TIMEOUT', message: `the capture did not finish by its deadline (attempt ${attemptsOf(shot)})` },
  { do: 'cancel' },
  { do: 'deletePod', force: false },
]

const isOld = (startTime: string, now: Date): boolean => now.getTime() - Date.parse(startTime) > FOREIGN_CLAIM_MILLISECONDS

const redispatch = ({ pod }: RunnerClaim, leftMilliseconds: number): Action[] =>
  leftMilliseconds > 0 ? [{ do: 'dispatch' }] : endAttempt(Reason.attemptFailed, `pod ${pod} never got the order`)

function retry(shot: Screenshot, reason: ScreenshotReason, message: string): Action {
  if (attemptsOf(shot) >= MAX_ATTEMPTS) return exhausted(shot, message)
  return { do: 'unclaim', reason, message, counts: true, lost: reason === Reason.runnerLost }
}

const exhausted = (shot: Screenshot, last = messageOf(shot) ?? ''): Action => ({
  do: 'fail',
  code: 'INTERNAL_ERROR',
  message: `${attemptsOf(shot)} attempts failed; the last: ${last}`,
})
