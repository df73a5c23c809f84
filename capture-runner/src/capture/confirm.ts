import type { CapturePlan } from '../plan/plan.ts'
import { compare, type FetchedBaseline } from './compare.ts'
import type { Captured } from './run.ts'

// A change is confirmed by a second picture of the page. Pages differ now and then for reasons that are not a change: a chart that a busy machine has
// not drawn in time, an answer that came late, an advertisement.

/** A second capture may take longer than the first, and its file must still be stored. */
const TIME_FACTOR = 2
const WARNING = 'the first picture differed from the earlier one, and a second one did not; the second one was stored'

/** What a comparison needs, and how to capture the page again. */
export interface Confirmation {
  baseline: FetchedBaseline
  plan: CapturePlan
  /** Epoch milliseconds. */
  deadline: number
  /** Milliseconds that the first capture took. */
  captureMilliseconds: number
  signal: AbortSignal
  captureAgain: () => Promise<Captured>
}

/**
 * Compares a capture with the earlier picture. If the page changed, captures it again and compares that, unless `retries` is 0 or the time is short.
 * @returns the capture to store, with its comparison
 * @throws what `compare` throws
 */
export async function compareTwice(first: Captured, { baseline, plan, signal, ...rest }: Confirmation): Promise<Captured> {
  first.findings.comparison = await compare(first.picture, baseline, first.findings, plan, signal)
  const isWorthwhile = Date.now() + TIME_FACTOR * rest.captureMilliseconds < rest.deadline
  if (!first.findings.comparison.changed || plan.retries === 0 || !isWorthwhile) return first
  const second = await rest.captureAgain().catch(() => undefined)
  signal.throwIfAborted()
  if (!second) return first
  second.findings.comparison = await compare(second.picture, baseline, second.findings, plan, signal)
  // A blank page or a bot challenge says nothing about a change.
  if (second.findings.comparison.skipped) return first
  if (!second.findings.comparison.changed) second.findings.warnings.push(WARNING)
  return second
}
