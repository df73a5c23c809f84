import { callInPage } from '../page/call.ts'
import type { Presence, Wanted } from '../page/functions.ts'
import { CaptureError } from '../runtime/errors.ts'
import { bounded, pause } from '../runtime/race.ts'
import { inDocument } from './in-document.ts'
import type { Work } from './step.ts'

/** Milliseconds between two checks. The first checks follow quickly, because most elements exist already. */
const INTERVALS = [0, 20, 50, 100]

/** Waits until elements match. @throws CaptureError SELECTOR_NOT_FOUND after the plan's time */
export async function findElement(work: Work, selector: string, wanted: Wanted = {}): Promise<void> {
  const { elementMilliseconds } = work.plan
  const { isVisible = true, count = 1 } = wanted
  const what = `${count === 1 ? 'no' : `fewer than ${count}`} ${isVisible ? 'visible ' : ''}element${count === 1 ? '' : 's'}`
  const notFound = () => new CaptureError('SELECTOR_NOT_FOUND', `${what} matched within ${elementMilliseconds} ms: ${selector}`)
  await pollUntil(work, { selector, wanted, isThere: (presence) => presence === 'there' }, notFound)
}

/** Waits until no visible element matches. @throws CaptureError TIMEOUT after the plan's time */
export async function awaitAbsence(work: Work, selector: string): Promise<void> {
  const { elementMilliseconds } = work.plan
  const notGone = () => new CaptureError('TIMEOUT', `an element was still visible after ${elementMilliseconds} ms: ${selector}`)
  await pollUntil(work, { selector, wanted: {}, isThere: (presence) => presence === 'absent' }, notGone)
}

/** True when a visible element matches now. */
export async function isThere(work: Work, selector: string): Promise<boolean> {
  return (await findPresence(work, { selector, wanted: {} }, work.signal)) === 'there'
}

interface Query {
  selector: string
  wanted: Wanted
}

interface Condition extends Query {
  isThere: (presence: Presence | undefined) => boolean
}

async function pollUntil(work: Work, condition: Condition, tooLate: () => Error): Promise<void> {
  using time = bounded(work.signal, work.plan.elementMilliseconds, tooLate)
  for (let i = 0; ; i++) {
    const presence = await findPresence(work, condition, time.signal)
    if (condition.isThere(presence)) return
    await work.tab.lifecycle.reach(['commit'], time.signal)
    await pause(INTERVALS[Math.min(i, INTERVALS.length - 1)] ?? 0, time.signal)
  }
}

/** Undefined when the document changed during the evaluation; the caller retries in the next one. */
const findPresence = ({ tab }: Work, { selector, wanted }: Query, signal: AbortSignal): Promise<Presence | undefined> =>
  inDocument({ tab, signal }, undefined, () => callInPage({ tab, signal }, 'findPresence', selector, wanted))
