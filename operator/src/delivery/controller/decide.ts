// What to do next about the events of one Screenshot. Pure: status.deliveries and what this leader has under way come in,
// writes and posts go out as data.
//
// Guarantee of status.deliveries: a first attempt needs no write before it, a second and third are recorded before they start, and one
// write holds the success of all endpoints. So never more than three attempts are recorded, and only one that was under way when its
// operator was killed may repeat, with the same event id.

import type { DeliveryEntry } from '@tintype/crds/kinds/screenshot'
import type { ScreenshotEventType } from '@tintype/crds/schema/event-types'
import { MAX_ATTEMPTS, nextAttemptTime, type RetrySchedule, recordedAttemptTime } from '../flow-control/retry.ts'

/** Where a post of this leader is. `ended` waits for status.deliveries; `deferred` never left (no secret yet) and burned no attempt. */
export type Progress =
  | { state: 'waiting' | 'posting'; attempt: number }
  | {
      state: 'ended'
      attempt: number
      at: Date
      isSuccess: boolean
      statusCode: number
      /** How long the answer took; absent when there was none. */
      responseMilliseconds?: number
      retryAfterMilliseconds?: number
      jitter: number
    }
  | { state: 'deferred'; until: Date }

/** One event and one webhook: a receiver, or one that status.deliveries still names. */
export interface Candidate {
  event: ScreenshotEventType
  webhook: string
  /** The webhook is active and subscribed since before the event. */
  isReceiver: boolean
  entry: DeliveryEntry | undefined
  progress: Progress | undefined
  /** Until when the endpoint's circuit holds a start back; absent when it does not. */
  heldUntil?: Date | undefined
}

/** A change of status.deliveries; `before` is what must still stand there. */
export interface DeliveryStateChange {
  event: ScreenshotEventType
  webhook: string
  before: DeliveryEntry | undefined
  after: DeliveryEntry
  /** HTTP status of the answer that led to it, 0 for none; absent when no post did. */
  statusCode?: number
  /** How long that answer took. */
  responseMilliseconds?: number
}

export type Action =
  | { do: 'record'; changes: DeliveryStateChange[] }
  | { do: 'post'; event: ScreenshotEventType; webhook: string; attempt: number }
  | { do: 'requeue'; afterMilliseconds: number }
  | { do: 'deleteScreenshot' }

interface Finding {
  after?: DeliveryEntry
  /** What is known of the post that led to it. */
  response?: Pick<DeliveryStateChange, 'statusCode' | 'responseMilliseconds'>
  post?: number
  due?: Date
}

export interface Circumstances {
  schedule: RetrySchedule
  /** False: what is due is left to the next leader. */
  mayPost: boolean
  /** The Screenshot waits to be deleted until its deliveries are settled. */
  isDeleteRequested: boolean
  /** True while too many ends wait to be written down: none waits for the posts beside it then. */
  isCrowded?: boolean
  now: Date
}

/** Returns at most one `record`, first; posts that it must precede follow it. */
export function decide(candidates: readonly Candidate[], circumstances: Circumstances): Action[] {
  const { schedule, mayPost, isDeleteRequested, isCrowded, now } = circumstances
  if (isDeleteRequested && candidates.every(({ entry }) => isSettled(entry))) return [{ do: 'deleteScreenshot' }]
  const evaluated = candidates
    .map((candidate) => ({ candidate, finding: evaluate(candidate, schedule, now) }))
    .filter(({ finding }) => mayPost || finding.post === undefined)
  const mustRecord = evaluated.some(({ finding }) => finding.after && (finding.post || isDue(finding, now)))
  // A post takes seconds at most: what is known already waits for it, so that one write holds both, but no longer than until it is due again.
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

const isDue = ({ due }: Finding, now: Date): boolean => due !== undefined && due <= now

function toChange({ event, webhook, entry }: Candidate, { after, response }: Finding): DeliveryStateChange[] {
  if (!after) return []
  return [{ event, webhook, before: entry, after, ...response }]
}

function evaluate({ isReceiver, entry, progress, heldUntil }: Candidate, schedule: RetrySchedule, now: Date): Finding {
  if (isSettled(entry)) return {}
  if (progress?.state === 'waiting' || progress?.state === 'posting') return {}
  if (progress?.state === 'ended') return evaluateResult(progress, isReceiver, schedule)
  if (!isReceiver) return entry ? { after: { ...entry, at: now.toISOString(), state: 'failed' } } : {}
  if (progress?.state === 'deferred' && progress.until > now) return { due: progress.until }
  const due = entry ? new Date(entry.at) : now
  if (due > now) return { due }
  // Before anything is recorded: a pause must not cost an attempt.
  if (heldUntil && heldUntil > now) return { due: heldUntil }
  if (!entry) return { post: 1 }
  // Three recorded and still open: the operator was killed during the third. It is recorded already, so it repeats without a write.
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

/** True when nothing more will be done about this entry. */
export const isSettled = (entry: DeliveryEntry | undefined): boolean => entry !== undefined && entry.state !== 'open'
