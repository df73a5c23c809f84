import { CaptureError } from '../../runtime/errors.ts'
import { abortable, bounded, pause } from '../../runtime/race.ts'
import { awaitAbsence, findElement } from '../find-element.ts'
import { timerNote } from '../injection/scripts.ts'
import { firstLine } from '../injection/syntax.ts'
import type { Step, Work } from '../step.ts'

/** Waits until elements exist, and then until others are gone. */
export const waitForSelector: Step = {
  name: 'waitForSelector',
  isWanted: ({ options }) => (options.waitForSelector ?? options.waitForSelectorGone) !== undefined,
  run: async (work) => {
    const { waitForSelector: sought, waitForSelectorState, waitForSelectorCount: count, waitForSelectorGone: gone } = work.plan.options
    const wanted = { isVisible: waitForSelectorState === 'visible', count }
    if (sought !== undefined) await attempt(work, () => findElement(work, sought, wanted))
    if (gone !== undefined) await attempt(work, () => awaitAbsence(work, gone))
  },
}

const INTERVAL_MILLISECONDS = 50

/** Waits until the client's expression is true in the page's own context. Polls from the runner, because a page without scripts has no timers. */
export const waitForFunction: Step = {
  name: 'waitForFunction',
  isWanted: (plan) => plan.options.waitForFunction !== undefined,
  run: (work) => attempt(work, () => awaitTruth(work, work.plan.options.waitForFunction ?? '')),
}

async function awaitTruth(work: Work, expression: string): Promise<void> {
  const { elementMilliseconds } = work.plan
  const last: LastResult = { thrown: undefined }
  const tooLate = () => {
    const note = last.thrown === undefined ? timerNote(work.plan) : `: it threw ${last.thrown}`
    return new CaptureError('TIMEOUT', `wait_for_function was not true within ${elementMilliseconds} ms${note}`)
  }
  using time = bounded(work.signal, elementMilliseconds, tooLate)
  while (!(await isTrue(work, expression, last, time.signal))) {
    await work.tab.lifecycle.reach(['commit'], time.signal)
    await pause(INTERVAL_MILLISECONDS, time.signal)
  }
}

/** Last result of the expression. */
interface LastResult {
  thrown: string | undefined
}

async function isTrue({ tab }: Work, expression: string, last: LastResult, signal: AbortSignal): Promise<boolean> {
  const { document } = tab.lifecycle
  const isGone = () => tab.lifecycle.isMoving || tab.lifecycle.document !== document
  try {
    const { result, exceptionDetails } = await abortable(tab.session.send('Runtime.evaluate', { expression: `(${expression}\n)` }), signal)
    // A missing name is no final error, because the page may define it later.
    last.thrown = exceptionDetails && firstLine(exceptionDetails.exception?.description ?? exceptionDetails.text)
    if (exceptionDetails) return false
    if (result.subtype !== 'promise' || result.objectId === undefined) return isTruthy(result)
    const { result: settled } = await abortable(tab.session.send('Runtime.awaitPromise', { promiseObjectId: result.objectId }), signal)
    return isTruthy(settled)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof CaptureError || !isGone()) throw error
    return false
  }
}

const isTruthy = ({ type, value, subtype }: { type: string; value?: unknown; subtype?: string }): boolean =>
  type === 'object' ? subtype !== 'null' : type === 'function' || type === 'symbol' || Boolean(value)

/** Waits as long as the client asked. */
export const delay: Step = {
  name: 'delay',
  isWanted: (plan) => plan.options.delay > 0,
  run: ({ plan, signal }) => pause(plan.options.delay, signal),
}

/** Errors that become warnings in a best attempt. */
const PASSING = new Set(['TIMEOUT', 'SELECTOR_NOT_FOUND'])

/** Waits for a condition. In a best attempt, a timeout becomes a warning. */
export async function attempt({ plan, findings, signal }: Work, wait: () => Promise<void>): Promise<void> {
  try {
    await wait()
  } catch (error) {
    signal.throwIfAborted()
    if (!plan.options.bestAttempt || !(error instanceof CaptureError) || !PASSING.has(error.code)) throw error
    findings.warnings.push(error.message)
  }
}
