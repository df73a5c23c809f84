// The loop of every retry. p-retry chooses its delays itself. Callers here need a delay for each error (such as Retry-After, or none after a
// conflict) and a clock of their own.

export interface RepeatOptions<T> {
  /** Milliseconds to wait before the next attempt, 0 for none; undefined: no further attempt. @param attempt number of the attempt that ended */
  delayOf: (outcome: T, attempt: number) => number | undefined
  /** Waits; rejects if the caller aborts. */
  wait: (milliseconds: number) => Promise<unknown>
}

/** Repeats `work` until `delayOf` returns undefined for its result. Resolves with that result. @param work gets the number of the attempt, from 1 */
export async function repeat<T>(work: (attempt: number) => Promise<T>, { delayOf, wait }: RepeatOptions<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const result = await work(attempt)
    const milliseconds = delayOf(result, attempt)
    if (milliseconds === undefined) return result
    if (milliseconds > 0) await wait(milliseconds)
  }
}

/** Repeats `work` after errors. @throws the last error, when `delayOf` returns undefined for it; what `delayOf` and `wait` throw */
export async function retry<T>(work: (attempt: number) => Promise<T>, { delayOf, wait }: RepeatOptions<unknown>): Promise<T> {
  const attempt = (number: number): Promise<Outcome<T>> =>
    work(number).then(
      (value) => ({ isDone: true, value }),
      (error: unknown) => ({ isDone: false, error }),
    )
  const last = await repeat(attempt, { delayOf: (outcome, number) => (outcome.isDone ? undefined : delayOf(outcome.error, number)), wait })
  if (!last.isDone) throw last.error
  return last.value
}

type Outcome<T> = { isDone: true; value: T } | { isDone: false; error: unknown }

/** Exponential backoff: twice the delay with each attempt, at most `max`. */
export const doubled = (first: number, max: number, attempt: number): number => Math.min(max, first * 2 ** (attempt - 1))
