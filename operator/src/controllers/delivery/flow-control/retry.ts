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

/**
 * Due time that is recorded before an attempt starts: the time of the next step if this operator is killed meanwhile. For the last attempt
 * that is the attempt itself again, after its time limit.
 */
export function recordedAttemptTime(schedule: RetrySchedule, attempt: number, now: Date): Date {
  const wait = attempt < MAX_ATTEMPTS ? delayAfter(schedule, attempt) : 2 * schedule.timeoutMilliseconds
  return new Date(now.getTime() + wait)
}
