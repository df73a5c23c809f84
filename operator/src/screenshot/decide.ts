/**
 * What should happen to one Screenshot next. Pure: the same observation at the same instant gives the same actions; apply.ts does them.
 *
 * A claim ends in one of four ways: the runner reports (then nothing is left to do here), the page is to blame for what befell the runner,
 * the attempt is over and another follows, or it never began. Another attempt may begin only when the pod of this one cannot upload any
 * more: so a claim is kept, its condition telling why, until that pod is gone or its upload address has expired.
 */

import { type GivenUp, STOPPING } from '@tintype/crds/dispatch/dispatch'
import { isFinished, type RunnerClaim, type Screenshot } from '@tintype/crds/kinds/screenshot'
import type { CacheEntry } from '@tintype/crds/records/cache'
import { Reason } from '@tintype/crds/schema/conditions'
import type { JobErrorCode } from '@tintype/crds/schema/errors'
import type { ScreenshotReason } from '../kube/condition-reasons.ts'
import { isOrderly, isPageSuspected, type PodEnd, UNKNOWN_END } from '../runner/pod-end.ts'
import type { CaptureResponse, DispatchOutcome } from '../runner/runner-client.ts'
import { attemptsOf, deadlineOf, MAX_ATTEMPTS, messageOf, reasonOf, type Unclaim, uploadExpiryOf } from './status.ts'

/** What is known of the pod that has the claim, and of what it does. */
export interface ObservedClaim {
  pod: 'up' | 'terminating' | 'ended' | 'gone'
  /** How it ended or is about to, if that is known. */
  end: PodEnd | undefined
  /** When a pod that was asked to go must have gone. */
  terminatesBy: Date | undefined
  response: CaptureResponse
  /** Of an attempt that is absent: the runner had it, and says why it ended it. */
  givenUp?: GivenUp | undefined
  /** Since when the pod is not ready; undefined while it is. */
  unreadySince?: Date | undefined
  /** This leader has made the claim. */
  isOwn: boolean
  /** This leader's own order was accepted: `absent` then means dropped, not unknown. */
  delivered: boolean
}

export interface Observed {
  shot: Screenshot | undefined
  /** Its pool exists, and its Account where that has yet to pay. What cannot run is handled elsewhere (pending/). */
  canRun: boolean
  /** The runner that the dispatcher keeps for it. */
  reserved: RunnerClaim | undefined
  /** The picture that it may be answered with, of one that no runner was asked for. */
  cached?: CacheEntry | undefined
  /** Of a Screenshot that has a claim. */
  claim: ObservedClaim | undefined
}

export type Action =
  /** It needs no runner any more. */
  | { do: 'release' }
  /** It waits for a runner. */
  | { do: 'queue' }
  /** It is completed with a picture that there is, if it is still there. */
  | { do: 'reuse'; entry: CacheEntry }
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

/** How often a runner is asked that has not answered, or whose end is awaited. */
export const POLL_MILLISECONDS = 2_000
/** How often one is asked that works: its end is told at once (see follow.ts), this is for what is lost on the way. */
export const WORKING_POLL_MILLISECONDS = 10_000
/** How long the order of a claim that another leader made is left to it: whoever wakes up late may be sending it now. */
export const FOREIGN_CLAIM_MILLISECONDS = 10_000
/** How long after its deadline an attempt may still report on its own. */
export const DEADLINE_GRACE_MILLISECONDS = 3_000
/** How long a runner may repeat its report while the API server is away. */
export const REPORT_MILLISECONDS = 600_000
/** How long after its grace period a pod may still be there before it is removed by force. */
export const FORCE_AFTER_MILLISECONDS = 5_000
/** How long a runner may be silent that its kubelet calls unready too, before its attempt is given up. */
export const UNREADY_MILLISECONDS = 30_000
/** By how much the clock of the leader that made a claim may have been ahead of or behind this one's. */
export const CLOCK_TOLERANCE_MILLISECONDS = 120_000
/** Times that a Screenshot may be handed back without a count: a page must not find a way to be captured for ever. */
const MAX_HANDED_BACK = 5
/** Lost pods with the same Screenshot after which the page is to blame. */
const MAX_LOST_RUNNERS = 2

export function decide(observed: Observed, now: Date): Action[] {
  const { shot } = observed
  if (!shot || shot.metadata.deletionTimestamp || isFinished(shot)) return [{ do: 'release' }]
  return shot.status?.phase === 'Running' ? decideRunning(shot, observed.claim, now) : decidePending(shot, observed)
}

/** What the outcome of a dispatch means. */
export function decideAfterDispatch(shot: Screenshot, result: DispatchOutcome): Action[] {
  const pod = shot.status?.runner?.pod
  switch (result.outcome) {
    case 'accepted':
    case 'silent':
    case 'unsent':
      return [{ do: 'requeue', afterMilliseconds: result.outcome === 'accepted' ? WORKING_POLL_MILLISECONDS : POLL_MILLISECONDS }]
    case 'busy':
      return [{ do: 'unclaim', reason: Reason.runnerBusy, message: `pod ${pod} had other work`, ...NEVER_BEGAN }]
    case 'unavailable':
      return [{ do: 'unclaim', reason: Reason.runnerBusy, message: `pod ${pod} was not ready`, ...NEVER_BEGAN }]
    case 'refused':
      return endAttempt(Reason.attemptFailed, `pod ${pod} refused the order (${refusalOf(result)})`)
  }
}

const NEVER_BEGAN = { counts: false, lost: false, blamesRunner: true } as const

function decidePending(shot: Screenshot, { canRun, reserved, cached }: Observed): Action[] {
  const begun = attemptsOf(shot)
  if (cached) return [{ do: 'release' }, { do: 'reuse', entry: cached }]
  if (begun >= MAX_ATTEMPTS) return [{ do: 'release' }, exhausted(shot)]
  if (reserved && canRun)
    return [
      ...(begun > 0 || wasHandedBack(shot) ? [{ do: 'removeFiles' } as const] : []),
      { do: 'claim', runner: reserved },
      { do: 'dispatch' },
    ]
  return [{ do: canRun ? 'queue' : 'release' }]
}

function decideRunning(shot: Screenshot, claim: ObservedClaim | undefined, now: Date): Action[] {
  const { runner, startTime } = shot.status ?? {}
  if (!runner || !startTime || !claim) return [retry(shot, Reason.attemptFailed, 'the claim was incomplete')]
  if (claim.pod === 'gone' || claim.pod === 'ended') return afterPod(shot, claim.end ?? UNKNOWN_END)
  if (isOver(shot)) return awaitPod(shot, claim, now)
  if (claim.givenUp) return afterGivingUp(shot, claim.givenUp)
  if (claim.pod === 'terminating' && (claim.response === 'silent' || (claim.response === 'absent' && claim.delivered)))
    return awaitPod(shot, claim, now)
  // Whoever made the claim wrote its start by another clock, and the runner keeps the deadline itself.
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

/** The pod cannot do anything any more: the next attempt, or the end. */
function afterPod(shot: Screenshot, end: PodEnd): Action[] {
  const pod = shot.status?.runner?.pod
  const reason = reasonOf(shot)
  if (reason === Reason.attemptFailed) return [retry(shot, Reason.attemptFailed, messageOf(shot) ?? '')]
  // What was silent before it was removed is judged by its silence, unless its node went with it.
  const wasSilent = reason === Reason.runnerLost
  if (!wasSilent && isOrderly(end)) return [handBack(shot, `pod ${pod}: ${end.text}`)]
  const how = wasSilent && end.cause !== 'nodeLost' ? messageOf(shot) : end.text
  const lossMessage = `pod ${pod} was lost in attempt ${attemptsOf(shot)}: ${how}`
  if (!isPageSuspected(end) && !(wasSilent && isOrderly(end))) return [retry(shot, Reason.runnerLost, lossMessage, false)]
  const lost = (shot.status?.lostRunners ?? 0) + 1
  if (lost < MAX_LOST_RUNNERS) return [retry(shot, Reason.runnerLost, lossMessage)]
  const isMemory = end.cause === 'outOfMemory'
  const message = isMemory
    ? `the runner ran out of memory with this page ${lost} times`
    : `the runner was lost ${lost} times with this page; the last time: ${how}`
  return [{ do: 'fail', code: 'PAGE_CRASHED', message }]
}

/** The runner lives, has ended the attempt of its own accord, and will not upload any more: nothing is to be waited for. */
function afterGivingUp(shot: Screenshot, { code, message }: GivenUp): Action[] {
  const pod = shot.status?.runner?.pod
  if (code === STOPPING) return [handBack(shot, `pod ${pod}: ${message}`)]
  const action = retry(shot, Reason.attemptFailed, `pod ${pod}, attempt ${attemptsOf(shot)}: ${code}: ${message}`)
  return [action.do === 'unclaim' ? { ...action, blamesRunner: code === 'INTERNAL_ERROR' } : action]
}

/** The pod was asked to go: that is nobody's fault, and no attempt, as long as it does not go on for ever. */
function handBack(shot: Screenshot, message: string): Action {
  const times = (shot.status?.handedBack ?? 0) + 1
  if (times > MAX_HANDED_BACK) return retry(shot, Reason.handedBack, message, false)
  return {
    do: 'unclaim',
    reason: Reason.handedBack,
    message: `${message}; it handed the capture back, which is no attempt`,
    counts: false,
    lost: false,
  }
}

/** Something of an attempt that does not count may be in the store. */
const wasHandedBack = ({ status }: Screenshot): boolean => (status?.handedBack ?? 0) > 0

function refusalOf({ status, clockAheadMilliseconds }: Extract<DispatchOutcome, { outcome: 'refused' }>): string {
  const seconds = Math.round(Math.abs(clockAheadMilliseconds) / 1_000)
  const clock =
    seconds === 0 ? '' : `; its node’s clock is ${seconds} s ${clockAheadMilliseconds > 0 ? 'ahead of' : 'behind'} the operator’s`
  return `HTTP ${status}${clock}`
}

/** The attempt is over, its pod not yet: it is made to go, and waited for no longer than it could upload. */
function awaitPod(shot: Screenshot, { pod, terminatesBy }: ObservedClaim, now: Date): Action[] {
  const expiry = uploadExpiryOf(shot).getTime() - now.getTime()
  if (expiry <= 0) return afterPod(shot, UNKNOWN_END)
  if (pod !== 'terminating') return [{ do: 'deletePod', force: false }, poll(FORCE_AFTER_MILLISECONDS)]
  const stuckIn = (terminatesBy?.getTime() ?? 0) + FORCE_AFTER_MILLISECONDS - now.getTime()
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

const poll = (leftMilliseconds: number, often = POLL_MILLISECONDS): Action => ({
  do: 'requeue',
  afterMilliseconds: Math.max(1, Math.min(often, leftMilliseconds)),
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

function retry(shot: Screenshot, reason: ScreenshotReason, message: string, lost = reason === Reason.runnerLost): Action {
  if (attemptsOf(shot) >= MAX_ATTEMPTS) return exhausted(shot, message)
  return { do: 'unclaim', reason, message, counts: true, lost }
}

const exhausted = (shot: Screenshot, last = messageOf(shot) ?? ''): Action => ({
  do: 'fail',
  code: 'INTERNAL_ERROR',
  message: `${attemptsOf(shot)} attempts failed; the last: ${last}`,
})
