import { CaptureError } from '../../runtime/errors.ts'
import { bounded, pause, raced } from '../../runtime/race.ts'
import { attempt } from '../attempt.ts'
import { timerNote } from '../injection/scripts.ts'
import { firstLine } from '../injection/syntax.ts'
import type { Step, Work } from '../step.ts'

const INTERVAL_MILLISECONDS = 50

/** Waits until the client's expression is true among the page's own scripts. Asked from here: a page without scripts has no timers. */
export const waitForFunction: Step = {
  name: 'waitForFunction',
  isWanted: (plan) => plan.waitForFunction !== undefined,
  run: (work) => attempt(work, () => awaitTruth(work, work.plan.waitForFunction ?? '')),
}

async function awaitTruth(work: Work, expression: string): Promise<void> {
  const { elementMilliseconds } = work.plan
  const course: Course = { thrown: undefined }
  const tooLate = () => {
    const note = course.thrown === undefined ? timerNote(work.plan) : `: it threw ${course.thrown}`
    return new CaptureError('TIMEOUT', `wait_for_function was not true within ${elementMilliseconds} ms${note}`)
  }
  using time = bounded(work.signal, elementMilliseconds, tooLate)
  while (!(await isTrue(work, expression, course, time.signal))) {
    await work.tab.lifecycle.reach(['commit'], time.signal)
    await pause(INTERVAL_MILLISECONDS, time.signal)
  }
}

/** What the expression did the last time. */
interface Course {
  thrown: string | undefined
}

async function isTrue({ tab }: Work, expression: string, course: Course, signal: AbortSignal): Promise<boolean> {
  const { document } = tab.lifecycle
  const isGone = () => tab.lifecycle.isMoving || tab.lifecycle.document !== document
  try {
    const { result, exceptionDetails } = await raced(tab.session.send('Runtime.evaluate', { expression: `(${expression}\n)` }), signal)
    // What is not there yet is no mistake: the page may define it later.
    course.thrown = exceptionDetails && firstLine(exceptionDetails.exception?.description ?? exceptionDetails.text)
    if (exceptionDetails) return false
    if (result.subtype !== 'promise' || result.objectId === undefined) return isTruthy(result)
    const { result: settled } = await raced(tab.session.send('Runtime.awaitPromise', { promiseObjectId: result.objectId }), signal)
    return isTruthy(settled)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof CaptureError || !isGone()) throw error
    return false
  }
}

const isTruthy = ({ type, value, subtype }: { type: string; value?: unknown; subtype?: string }): boolean =>
  type === 'object' ? subtype !== 'null' : type === 'function' || type === 'symbol' || Boolean(value)
