import { CaptureError } from '../errors.ts'
import { bounded, raced } from '../race.ts'
import { follow } from './navigate.ts'
import type { Step } from './step.ts'

const MESSAGE_LENGTH = 500

/** Runs the client's JavaScript as the page's own, `await` at the top included, and goes along where it leads. */
export const scripts: Step = {
  name: 'scripts',
  code: 'SCRIPT_ERROR',
  isWanted: (plan) => plan.scripts !== undefined,
  run: async (work) => {
    const { tab, plan } = work
    const tooSlow = () => new CaptureError('TIMEOUT', `scripts did not end within ${plan.timeoutMilliseconds} ms`)
    using time = bounded(work.signal, plan.timeoutMilliseconds, tooSlow)
    const { document } = tab.lifecycle
    const evaluation = { expression: plan.scripts ?? '', awaitPromise: true, replMode: true, userGesture: true }
    try {
      const { exceptionDetails } = await raced(tab.session.send('Runtime.evaluate', evaluation), time.signal)
      if (exceptionDetails) {
        throw new CaptureError('SCRIPT_ERROR', firstLine(exceptionDetails.exception?.description ?? exceptionDetails.text))
      }
    } catch (error) {
      time.signal.throwIfAborted()
      // A script that leaves the page ends with it.
      if (error instanceof CaptureError || !(tab.lifecycle.isMoving || tab.lifecycle.document !== document)) throw error
    }
    await follow(work)
  },
}

const firstLine = (text: string): string => (text.split('\n')[0] ?? '').slice(0, MESSAGE_LENGTH)
