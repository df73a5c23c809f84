import { isSameText } from '@tintype/crds/kinds/comparison'
import type { CapturePlan } from '../plan/plan.ts'
import { abortable, bounded } from '../runtime/race.ts'
import { drawDifferences, type Examined, examine, type FetchedBaseline, giveUp } from './compare.ts'
import type { Captured } from './run.ts'

// A change is confirmed by a second picture of the page. Pages differ now and then for reasons that are not a change: a chart that a busy machine has
// not drawn in time, an answer that came late, an advertisement. So only what both pictures show counts.

/** A second capture may take longer than the first, and its file must still be stored. */
const TIME_FACTOR = 2
/** Share of the remaining time that a comparison may take, because the file must still be stored. */
const COMPARING_SHARE = 0.5
const WARNING = 'the first picture differed from the earlier one, and a second one did not; the second one was stored'
const UNCONFIRMED = 'the change was not confirmed by a second load of the page'
const DROPPED =
  'two loads of the page differ where they differ from the earlier picture, so that is not a change; the second one was stored'

const WORDLESS = 'the words were not compared, because the text of the earlier capture is not stored'
const READ_OTHERWISE =
  'the words were not compared, because another version of Tintype read the text of the earlier capture; compare with a newer one'

/** What a comparison needs, and how to capture the page again. */
export interface Confirmation {
  baseline: FetchedBaseline
  plan: CapturePlan
  /** Epoch milliseconds. */
  deadline: number
  /** Milliseconds that the first capture took. */
  captureMilliseconds: number
  signal: AbortSignal
  /** @param movingElements CSS selectors of elements that moved to the end of the first wait, so that the second one need not wait for them */
  captureAgain: (movingElements: readonly string[]) => Promise<Captured>
}

/**
 * Compares a capture with the earlier picture. Without a result in time, the page counts as changed. If the page changed, captures it again and
 * compares that, unless `retries` is 0 or the time is short.
 * @returns the capture to store, with its comparison
 * @throws what `examine` throws
 */
export async function compareTwice(first: Captured, { baseline, plan, signal, ...rest }: Confirmation): Promise<Captured> {
  const finish = async (captured: Captured, examined: Examined): Promise<Captured> => {
    captured.findings.comparison = examined.comparison
    const { textChanged, skipped } = examined.comparison
    if (textChanged === undefined && !skipped) {
      const isStored = (await baseline.text) !== undefined && !isSameText(baseline.engine, captured.findings.engine)
      captured.findings.warnings.push(isStored ? READ_OTHERWISE : WORDLESS)
    }
    await drawDifferences(examined, captured.findings, signal)
    return captured
  }
  const examineInTime = async ({ picture, findings }: Captured, earlier?: Examined): Promise<Examined | undefined> => {
    const late = new Error('the comparison did not end within its time')
    const milliseconds = Math.min(plan.captureMilliseconds, COMPARING_SHARE * (rest.deadline - Date.now()))
    using time = bounded(signal, milliseconds, () => late)
    try {
      return await examine(picture, baseline, findings, plan, time.signal, earlier)
    } catch (error) {
      if (error !== late) throw error
      return undefined
    }
  }
  // A slow download is not the comparison's fault.
  await abortable(baseline.sha256, signal)
  const one = await examineInTime(first)
  if (!one) {
    first.findings.comparison = await giveUp(first.picture, baseline, first.findings, plan, signal)
    return first
  }
  if (!one.comparison.changed) return finish(first, one)
  const isWorthwhile = Date.now() + TIME_FACTOR * rest.captureMilliseconds < rest.deadline
  const second =
    plan.options.retries > 0 && isWorthwhile
      ? await rest.captureAgain(first.findings.moving?.elements ?? []).catch(() => undefined)
      : undefined
  signal.throwIfAborted()
  const two = second && (await examineInTime(second, one))
  // A blank page or a bot challenge says nothing about a change.
  if (!second || !two || two.comparison.skipped) {
    first.findings.warnings.push(UNCONFIRMED)
    return finish(first, one)
  }
  if (!two.comparison.changed) second.findings.warnings.push(two.comparison.rule === 'loads' ? DROPPED : WARNING)
  return finish(second, two)
}
