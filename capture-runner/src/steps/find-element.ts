import { CaptureError } from '../runtime/errors.ts'
import { bounded, pause } from '../runtime/race.ts'
import { inDocument } from './in-document.ts'
import type { Work } from './step.ts'

/** Milliseconds between two looks; the first come quickly because most elements are there already. */
const INTERVALS = [0, 20, 50, 100]

type Sight = 'there' | 'absent'

/** How elements must be. */
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
  await lookUntil(work, { expression: sightOf(selector, wanted), isThere: (sight) => sight === 'there' }, notFound)
}

/** Waits until no visible element matches any more. @throws CaptureError SELECTOR_NOT_FOUND after the plan's time */
export async function awaitAbsence(work: Work, selector: string): Promise<void> {
  const { elementMilliseconds } = work.plan
  const stays = () => new CaptureError('TIMEOUT', `an element was still there after ${elementMilliseconds} ms: ${selector}`)
  await lookUntil(work, { expression: sightOf(selector), isThere: (sight) => sight === 'absent' }, stays)
}

/** True when a visible element matches now. */
export async function isThere(work: Work, selector: string): Promise<boolean> {
  return (await look(work, sightOf(selector), work.signal)) === 'there'
}

interface Question {
  expression: string
  isThere: (sight: Sight | undefined) => boolean
}

async function lookUntil(work: Work, question: Question, tooLate: () => Error): Promise<void> {
  using time = bounded(work.signal, work.plan.elementMilliseconds, tooLate)
  for (let i = 0; ; i++) {
    const sight = await look(work, question.expression, time.signal)
    if (question.isThere(sight)) return
    await work.tab.lifecycle.reach(['commit'], time.signal)
    await pause(INTERVALS[Math.min(i, INTERVALS.length - 1)] ?? 0, time.signal)
  }
}

/** Undefined when the document changed under the question: ask the next one. */
const look = ({ tab }: Work, expression: string, signal: AbortSignal): Promise<Sight | undefined> =>
  inDocument({ tab, signal }, undefined, () => tab.look<Sight>(expression, signal))

const VISIBLE = "(element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility === 'visible'"

/** The first visible match, as an expression; undefined when there is none. */
export const firstVisible = (selector: string): string => `[...document.querySelectorAll(${JSON.stringify(selector)})]
  .find(${VISIBLE})`

const sightOf = (selector: string, { isVisible = true, count = 1 }: Wanted = {}): string =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})]${isVisible ? `.filter(${VISIBLE})` : ''}.length >= ${count} ? 'there' : 'absent'`
