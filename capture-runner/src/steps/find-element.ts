import { CaptureError } from '../runtime/errors.ts'
import { bounded, pause } from '../runtime/race.ts'
import { inDocument } from './in-document.ts'
import type { Work } from './step.ts'

/** Milliseconds between two checks. The first checks follow quickly, because most elements exist already. */
const INTERVALS = [0, 20, 50, 100]

type Presence = 'there' | 'absent'

/** Condition on the matching elements. */
export interface Wanted {
  /** Default: they must be visible. */
  isVisible?: boolean
  /** Number of matches. Default: 1. */
  count?: number
}

/** Waits until elements match. @throws CaptureError SELECTOR_NOT_FOUND after the plan's time */
export async function findElement(work: Work, selector: string, wanted: Wanted = {}): Promise<void> {
  const { elementMilliseconds } = work.plan
  const { isVisible = true, count = 1 } = wanted
  const what = `${count === 1 ? 'no' : `fewer than ${count}`} ${isVisible ? 'visible ' : ''}element${count === 1 ? '' : 's'}`
  const notFound = () => new CaptureError('SELECTOR_NOT_FOUND', `${what} matched within ${elementMilliseconds} ms: ${selector}`)
  await pollUntil(work, { expression: presenceOf(selector, wanted), isThere: (presence) => presence === 'there' }, notFound)
}

/** Waits until no visible element matches. @throws CaptureError TIMEOUT after the plan's time */
export async function awaitAbsence(work: Work, selector: string): Promise<void> {
  const { elementMilliseconds } = work.plan
  const notGone = () => new CaptureError('TIMEOUT', `an element was still visible after ${elementMilliseconds} ms: ${selector}`)
  await pollUntil(work, { expression: presenceOf(selector), isThere: (presence) => presence === 'absent' }, notGone)
}

/** True when a visible element matches now. */
export async function isThere(work: Work, selector: string): Promise<boolean> {
  return (await evaluatePresence(work, presenceOf(selector), work.signal)) === 'there'
}

interface Condition {
  expression: string
  isThere: (presence: Presence | undefined) => boolean
}

async function pollUntil(work: Work, condition: Condition, tooLate: () => Error): Promise<void> {
  using time = bounded(work.signal, work.plan.elementMilliseconds, tooLate)
  for (let i = 0; ; i++) {
    const presence = await evaluatePresence(work, condition.expression, time.signal)
    if (condition.isThere(presence)) return
    await work.tab.lifecycle.reach(['commit'], time.signal)
    await pause(INTERVALS[Math.min(i, INTERVALS.length - 1)] ?? 0, time.signal)
  }
}

/** Undefined when the document changed during the evaluation; the caller retries in the next one. */
const evaluatePresence = ({ tab }: Work, expression: string, signal: AbortSignal): Promise<Presence | undefined> =>
  inDocument({ tab, signal }, undefined, () => tab.evaluate<Presence>(expression, signal))

const VISIBLE = "(element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility === 'visible'"

/** The first visible match, as a JavaScript expression; undefined if there is none. */
export const firstVisible = (selector: string): string => `[...document.querySelectorAll(${JSON.stringify(selector)})]
  .find(${VISIBLE})`

const presenceOf = (selector: string, { isVisible = true, count = 1 }: Wanted = {}): string =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})]${isVisible ? `.filter(${VISIBLE})` : ''}.length >= ${count} ? 'there' : 'absent'`
