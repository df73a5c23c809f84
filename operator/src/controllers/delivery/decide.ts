// Decides the next step for the events of one Screenshot. Pure: the input is status.deliveries and the posts that this leader has in progress,
// the output is writes and posts as data.
//
// Guarantees of status.deliveries: an attempt needs no write before it, and the next one starts when its result is recorded; one write
// holds the results of all endpoints. So only an attempt whose result was not recorded when its operator was killed may be repeated, with the
// same event id.

import { type JsonPatchOperation, jsonPatch, type Patch, pointer } from '@tintype/crds/client/resource'
import type { DeliveryEntry, Screenshot } from '@tintype/crds/kinds/screenshot'
import type { EventType } from '@tintype/crds/schema/event-types'

/** State of a post of this leader. `ended`: not recorded yet. `deferred`: it may not start yet (circuit open, or no secret) and used no attempt. */
export type Progress =
  | { state: 'waiting' | 'posting' }
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

/** Returns at most one `record` action. */
export function decide(candidates: readonly Candidate[], options: DecideOptions): Action[] {
  const { schedule, mayPost, isDeleteRequested, isCrowded, now } = options
  // Open deliveries continue without the Screenshot. They must not keep it until their last attempt.
  const mayLeave = (candidate: Candidate): boolean => hasEnded(candidate.entry) || isIdle(candidate, now)
  if (isDeleteRequested && candidates.every(mayLeave)) return [{ do: 'deleteScreenshot' }]
  const evaluated = candidates
    .map((candidate) => ({ candidate, finding: evaluate(candidate, schedule, now) }))
    .filter(({ finding }) => mayPost || finding.post === undefined)
  const mustRecord = evaluated.some(({ finding: { after, due } }) => after && due && due <= now)
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

function toChange({ event, webhook, entry }: Candidate, { after, response }: Finding): DeliveryStateChange[] {
  if (!after) return []
  return [{ event, webhook, before: entry, after, ...response }]
}

function evaluate({ isReceiver, entry, progress }: Candidate, schedule: RetrySchedule, now: Date): Finding {
  if (hasEnded(entry)) return {}
  if (progress?.state === 'waiting' || progress?.state === 'posting') return {}
  if (progress?.state === 'ended') return evaluateResult(progress, isReceiver, schedule)
  if (!isReceiver) return entry ? { after: { ...entry, at: now.toISOString(), state: 'failed' } } : {}
  if (progress?.state === 'deferred' && progress.until > now) return { due: progress.until }
  const due = entry ? new Date(entry.at) : now
  return due > now ? { due } : { post: nextAttempt(entry) }
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

type DeliveryStates = Record<string, Record<string, DeliveryEntry>>

const ROOT = ['status', 'deliveries'] as const

/**
 * The only write of status.deliveries: a JSON patch that touches nothing else. Instead of the resourceVersion, its `test` operations check
 * the uid and the previous entries. `test` with null passes where there is no entry.
 */
export function toDeliveryStatePatch({ metadata, status }: Screenshot, changes: readonly DeliveryStateChange[]): Patch {
  const states: DeliveryStates | undefined = status?.deliveries
  const additions = states === undefined ? [addAll(changes)] : addBelow(states, changes)
  const tests = additions.map(({ path, before }) => [path, before ?? null])
  const operations = additions.map(({ path, value }): JsonPatchOperation => ({ op: 'add', path, value }))
  return jsonPatch(operations, { [pointer('metadata', 'uid')]: metadata.uid, ...Object.fromEntries(tests) })
}

interface Addition {
  path: string
  before: DeliveryEntry | undefined
  value: unknown
}

const addAll = (changes: readonly DeliveryStateChange[]): Addition => ({
  path: pointer(...ROOT),
  before: undefined,
  value: toDeliveryStates(changes),
})

function addBelow(states: DeliveryStates, changes: readonly DeliveryStateChange[]): Addition[] {
  const inNewEvents = changes.filter(({ event }) => states[event] === undefined)
  const inKnownEvents = changes.filter(({ event }) => states[event] !== undefined)
  return [
    ...Object.entries(toDeliveryStates(inNewEvents)).map(([event, value]) => ({ path: pointer(...ROOT, event), before: undefined, value })),
    ...inKnownEvents.map(({ event, webhook, before, after }) => ({ path: pointer(...ROOT, event, webhook), before, value: after })),
  ]
}

function toDeliveryStates(changes: readonly DeliveryStateChange[]): DeliveryStates {
  const states: DeliveryStates = {}
  for (const { event, webhook, after } of changes) states[event] = { ...states[event], [webhook]: after }
  return states
}

/** A delivery fails after so many attempts. */
export const MAX_ATTEMPTS = 3

/** Random part that is added to each delay, so that deliveries that failed together are not retried together. A delay is never shorter. */
const JITTER = 0.2
/** `Retry-After` may lengthen a delay up to this factor; it never shortens one. */
const RETRY_AFTER_FACTOR = 2

/** When failed posts are repeated. */
export interface RetrySchedule {
  /** Delays before the second and the third attempt. */
  delaysMilliseconds: readonly number[]
  /** Time limit of one post. */
  timeoutMilliseconds: number
}

/** A failed attempt. */
export interface FailedAttempt {
  /** Number of the attempt, from 1. */
  attempt: number
  /** When it ended. */
  at: Date
  retryAfterMilliseconds?: number
  /** Random number from 0 to 1, exclusive. */
  jitter: number
}

const delayAfter = ({ delaysMilliseconds }: RetrySchedule, attempt: number): number =>
  delaysMilliseconds[attempt - 1] ?? delaysMilliseconds.at(-1) ?? 0

/** Time of the attempt after a failed one. */
export function nextAttemptTime(schedule: RetrySchedule, { attempt, at, retryAfterMilliseconds = 0, jitter }: FailedAttempt): Date {
  const base = delayAfter(schedule, attempt)
  const own = Math.round(base * (1 + JITTER * jitter))
  const requested = Math.min(retryAfterMilliseconds, base * RETRY_AFTER_FACTOR)
  return new Date(at.getTime() + Math.max(own, requested))
}

/** Number of the next attempt. Releases that counted an attempt before it started may have left an open delivery with all of them. */
export const nextAttempt = (open?: { attempts: number }): number => Math.min((open?.attempts ?? 0) + 1, MAX_ATTEMPTS)
