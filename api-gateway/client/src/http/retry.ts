import { TintypeError } from '../common/errors.ts'

// Which failures are repeated, and when.

/** Time and chance. Tests replace them. */
export interface Timing {
  sleep: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>
  random: () => number
  now: () => number
}

/** Resolves after a time. Rejects with the reason of the signal. */
function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, milliseconds)
    if (signal?.aborted) onAbort()
    else signal?.addEventListener('abort', onAbort, { once: true })
  })
}

export const realTiming: Timing = { sleep, random: Math.random, now: () => performance.now() }

const FIRST_DELAY_MILLISECONDS = 500
const MAX_BACKOFF_MILLISECONDS = 16_000
const RETRY_AFTER_JITTER_MILLISECONDS = 1_000
/** All delays of one call together. Retry-After of a rate limit is at most 60 seconds. */
export const DELAY_BUDGET_MILLISECONDS = 120_000

const RETRYABLE_STATUS = new Set([429, 500, 502, 503, 504])
const RETRYABLE_CODES = new Set(['CONNECTION_FAILED', 'REQUEST_TIMEOUT', 'IDEMPOTENCY_IN_PROGRESS'])

/**
 * `repeatable`: a second request has no further effect, because it only reads, sets the same values or has an Idempotency-Key.
 * `once`: every request has an effect, so only requests that the service refused are repeated.
 */
export type Repetition = 'repeatable' | 'once'

/** True if the same request may succeed later. */
export function isRetryable(error: unknown, repetition: Repetition): error is TintypeError {
  if (!(error instanceof TintypeError) || error.code === 'USAGE_LIMIT_REACHED') return false
  if (repetition === 'once') return error.status === 429
  return RETRYABLE_CODES.has(error.code) || RETRYABLE_STATUS.has(error.status ?? 0)
}

/** Delay before the retry with this number, from 1. Exponential with jitter, and never shorter than Retry-After. */
export function retryDelay(number: number, retryAfterSeconds: number | undefined, random: () => number): number {
  const backoff = Math.min(MAX_BACKOFF_MILLISECONDS, FIRST_DELAY_MILLISECONDS * 2 ** (number - 1))
  const jittered = backoff / 2 + (random() * backoff) / 2
  if (retryAfterSeconds === undefined) return jittered
  return Math.max(jittered, retryAfterSeconds * 1_000 + random() * RETRY_AFTER_JITTER_MILLISECONDS)
}

export interface RetrySettings {
  retries: number
  repetition: Repetition
  timing: Timing
  signal?: AbortSignal | undefined
}

/** Calls `attempt` until it succeeds, fails for good, or the retries or the budget of delays are used up. */
export async function retry<T>(
  attempt: (number: number) => Promise<T>,
  { retries, repetition, timing, signal }: RetrySettings,
): Promise<T> {
  let budget = DELAY_BUDGET_MILLISECONDS
  for (let number = 0; ; number += 1) {
    try {
      return await attempt(number)
    } catch (error) {
      if (number >= retries || !isRetryable(error, repetition)) throw error
      const delay = retryDelay(number + 1, error.retryAfterSeconds, timing.random)
      budget -= delay
      if (budget < 0) throw error
      await timing.sleep(delay, signal)
    }
  }
}
