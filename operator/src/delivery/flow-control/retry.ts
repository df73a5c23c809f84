import { PAUSE_MILLISECONDS } from './circuit.ts'

/** Spec 6.3: after 3 failed attempts a delivery is marked failed. */
export const MAX_ATTEMPTS = 3

/** Share by which each delay is made shorter or longer, so that many deliveries that failed together do not return together. */
const JITTER = 0.2
/** A receiver's `Retry-After` may lengthen a delay, to this many times itself at most; it never shortens one. */
const RETRY_AFTER_FACTOR = 2

/** When failed posts are repeated. */
export interface RetrySchedule {
  /** Delays before the second and the third attempt. */
  delaysMilliseconds: readonly number[]
  /** How long one post may take. */
  timeoutMilliseconds: number
}

/** A failed attempt. */
export interface FailedAttempt {
  /** Its number, from 1. */
  attempt: number
  /** When it ended. */
  at: Date
  retryAfterMilliseconds?: number
  /** Chance: 0 or more, less than 1. */
  jitter: number
}

const delayAfter = ({ delaysMilliseconds }: RetrySchedule, attempt: number): number =>
  delaysMilliseconds[attempt - 1] ?? delaysMilliseconds.at(-1) ?? 0

/** When the attempt after a failed one is due. */
export function nextAttemptTime(schedule: RetrySchedule, { attempt, at, retryAfterMilliseconds = 0, jitter }: FailedAttempt): Date {
  const base = delayAfter(schedule, attempt)
  const own = Math.round(base * (1 + JITTER * (2 * jitter - 1)))
  const asked = Math.min(retryAfterMilliseconds, base * RETRY_AFTER_FACTOR)
  return new Date(at.getTime() + Math.max(own, asked))
}

/**
 * What is written as due time when an attempt is recorded before it starts: when the next step is due should this operator be killed in
 * the middle. After the last attempt that is the attempt itself again, once it must be over.
 */
export function recordedAttemptTime(schedule: RetrySchedule, attempt: number, now: Date): Date {
  const wait = attempt < MAX_ATTEMPTS ? delayAfter(schedule, attempt) : 2 * schedule.timeoutMilliseconds
  return new Date(now.getTime() + wait)
}

/** The longest that a delivery may take by its schedule, pauses of its endpoint included; what waits for its turn takes longer. */
export function longestDelivery(schedule: RetrySchedule): number {
  const delays = [1, 2].reduce((sum, attempt) => sum + delayAfter(schedule, attempt), 0)
  return RETRY_AFTER_FACTOR * delays + MAX_ATTEMPTS * (schedule.timeoutMilliseconds + PAUSE_MILLISECONDS)
}
