// Decides the next step for the events of one Screenshot. Pure: the input is status.deliveries and the posts that this leader has in progress,
// the output is writes and posts as data.
//
// Guarantees of status.deliveries: a first attempt needs no write before it; the second and third are recorded before they start; one write
// holds the success of all endpoints. So at most three attempts are recorded, and only an attempt that was running when its operator was
// killed may be repeated, with the same event id.

import type { DeliveryEntry } from '@tintype/crds/kinds/screenshot'
import type { EventType } from '@tintype/crds/schema/event-types'
import { MAX_ATTEMPTS, nextAttemptTime, type RetrySchedule, recordedAttemptTime } from './flow-control/retry.ts'

/** State of a post of this leader. `ended`: not recorded yet. `deferred`: it could not be sent (no secret yet) and used no attempt. */
export type Progress =
  | { state: 'waiting' | 'posting'; attempt: number }
  | {
      state: 'ended'
      attempt: number
      at: Date
      isSuccess: boolean
      statusCode: number
      /** Time until the response; absent without one. */
      responseMilliseconds?: number
      retryAfterMilliseconds?: number
      jitter: number
    }
  | { state: 'deferred'; until: Date }

/** One event and one webhook that receives it or is named in status.deliveries. */
export interface Candidate {
  event: EventType
  webhook: string
  /** True when the webhook is active and was subscribed before the event. */
  isReceiver: boolean
  entry: DeliveryEntry | undefined
  progress: Progress | undefined
  /** Time until which the circuit breaker delays the start; absent: no delay. */
  heldUntil?: Date | undefined
}

/** A change of status.deliveries. `before` is the expected current entry. */
export interface DeliveryStateChange {
  event: EventType
  webhook: string
  before: DeliveryEntry | undefined
  after: DeliveryEntry
  /** HTTP status of the response, 0 without one; absent when the change is not the result of a post. */
  statusCode?: number
  /** Time until that response. */
  responseMilliseconds?: number
}

export type Action =
  | { do: 'record'; changes: DeliveryStateChange[] }
  | { do: 'post'; event: EventType; webhook: string; attempt: number }
  | { do: 'requeue'; afterMilliseconds: number }
  | { do: 'deleteScreenshot' }

interface Finding {
  after?: DeliveryEntry
  /** Response of the post that caused the change. */
  response?: Pick<DeliveryStateChange, 'statusCode' | 'responseMilliseconds'>
  post?: number
  due?: Date
}

export interface DecideOptions {
  schedule: RetrySchedule
  /** False when due posts are left to the next leader. */
  mayPost: boolean
  /** True when the Screenshot is deleted once its deliveries have ended, or can continue without it. */
  isDeleteRequested: boolean
  /** True when too many results wait to be recorded: they are then written without waiting for running posts. */
  isCrowded?: boolean
  now: Date
}

/** Returns at most one `record` action. It comes before the posts that depend on it. */
export function decide(candidates: readonly Candidate[], options: DecideOptions): Action[] {
  const { schedule, mayPost, isDeleteRequested, isCrowded, now } = options
  // Open deliveries continue without the Screenshot. They must not keep it until their last attempt.
  const mayLeave = (candidate: Candidate): boolean => hasEnded(candidate.entry) || isIdle(candidate, now)
  if (isDeleteRequested && candidates.every(mayLeave)) return [{ do: 'deleteScreenshot' }]
  const evaluated = candidates
    .map((candidate) => ({ candidate, finding: evaluate(candidate, schedule, now) }))
    .filter(({ finding }) => mayPost || finding.post === undefined)
  const mustRecord = evaluated.some(({ finding }) => finding.after && (finding.post || isDue(finding, now)))
  // Results wait for running posts, which take seconds, so that one write holds them all; but not longer than until the next attempt is due.
  const isHeld = !mustRecord && !isCrowded && candidates.some(({ progress }) => progress?.state === 'posting')
  const changes = isHeld ? [] : evaluated.flatMap(({ candidate, finding }) => toChange(candidate, finding))
  const posts = evaluated.flatMap(({ candidate: { event, webhook }, finding: { post } }): Action[] =>
    post === undefined ? [] : [{ do: 'post', event, webhook, attempt: post }],
  )
  const due = evaluated.flatMap(({ finding }) => (finding.due ? [finding.due.getTime() - now.getTime()] : []))
  return [
    ...(changes.length > 0 ? [{ do: 'record' as const, changes }] : []),
    ...posts,
    ...(due.length > 0 ? [{ do: 'requeue' as const, afterMilliseconds: Math.min(...due) }] : []),
  ]
}

/** True for a delivery that waits for its next attempt. */
const isIdle = ({ entry, progress }: Candidate, now: Date): boolean =>
  entry !== undefined && progress === undefined && new Date(entry.at) > now

const isDue = ({ due }: Finding, now: Date): boolean => due !== undefined && due <= now

function toChange({ event, webhook, entry }: Candidate, { after, response }: Finding): DeliveryStateChange[] {
  if (!after) return []
  return [{ event, webhook, before: entry, after, ...response }]
}

function evaluate({ isReceiver, entry, progress, heldUntil }: Candidate, schedule: RetrySchedule, now: Date): Finding {
  if (hasEnded(entry)) return {}
  if (progress?.state === 'waiting' || progress?.state === 'posting') return {}
  if (progress?.state === 'ended') return evaluateResult(progress, isReceiver, schedule)
  if (!isReceiver) return entry ? { after: { ...entry, at: now.toISOString(), state: 'failed' } } : {}
  if (progress?.state === 'deferred' && progress.until > now) return { due: progress.until }
  const due = entry ? new Date(entry.at) : now
  if (due > now) return { due }
  // Checked before the attempt is recorded, so that a delay does not use up an attempt.
  if (heldUntil && heldUntil > now) return { due: heldUntil }
  if (!entry) return { post: 1 }
  // Three attempts are recorded and the delivery is still open: the operator was killed during the third. Repeat it without a write.
  if (entry.attempts >= MAX_ATTEMPTS) return { post: MAX_ATTEMPTS }
  const attempt = entry.attempts + 1
  return { after: { attempts: attempt, at: recordedAttemptTime(schedule, attempt, now).toISOString(), state: 'open' }, post: attempt }
}

function evaluateResult(result: Progress & { state: 'ended' }, isReceiver: boolean, schedule: RetrySchedule): Finding {
  const { attempt: n, at, statusCode, responseMilliseconds, isSuccess } = result
  const response = { statusCode, ...(responseMilliseconds === undefined ? {} : { responseMilliseconds }) }
  const ended = at.toISOString()
  if (isSuccess) return { after: { attempts: n, at: ended, state: 'ok' }, response }
  if (n >= MAX_ATTEMPTS || !isReceiver) return { after: { attempts: n, at: ended, state: 'failed' }, response }
  const due = nextAttemptTime(schedule, result)
  return { after: { attempts: n, at: due.toISOString(), state: 'open' }, response, due }
}

/** True when the delivery has succeeded or was given up. */
export const hasEnded = (entry: DeliveryEntry | undefined): boolean => entry !== undefined && entry.state !== 'open'
