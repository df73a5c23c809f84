import { CaptureError } from '../../runtime/errors.ts'
import { bounded, raced } from '../../runtime/race.ts'
import { arriveAgain, follow } from '../navigation/navigate.ts'
import type { Step, Work } from '../step.ts'
import { firstLine } from './syntax.ts'

const MESSAGE_LENGTH = 500

/** Runs the client's JavaScript as the page's own, `await` at the top included, and goes along where it leads. */
export const scripts: Step = {
  name: 'scripts',
  code: 'SCRIPT_ERROR',
  isWanted: (plan) => plan.scripts !== undefined || plan.scriptUrls !== undefined,
  run: async (work) => {
    const { scriptUrls = [], scripts: text, scriptsStates } = work.plan
    for (const url of scriptUrls) await tolerate(work, async () => runScript(work, findScript(work, url)))
    if (text !== undefined) await tolerate(work, () => runScript(work, text))
    await (scriptsStates ? arriveAgain(work, scriptsStates) : follow(work))
  },
}

/** A script that fails fails the capture, unless it may. */
async function tolerate({ plan, findings }: Work, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (plan.failOnScriptError || !(error instanceof CaptureError) || error.code !== 'SCRIPT_ERROR') throw error
    findings.warnings.push(`a script failed: ${error.message}`)
  }
}

async function runScript(work: Work, expression: string): Promise<void> {
  const { tab, plan } = work
  const tooSlow = () => new CaptureError('TIMEOUT', `scripts did not end within ${plan.timeoutMilliseconds} ms${timerNote(plan)}`)
  using time = bounded(work.signal, plan.timeoutMilliseconds, tooSlow)
  const { document } = tab.lifecycle
  const evaluation = { expression, awaitPromise: true, replMode: true, userGesture: true }
  try {
    const { exceptionDetails } = await raced(tab.session.send('Runtime.evaluate', evaluation), time.signal)
    if (exceptionDetails) {
      throw new CaptureError('SCRIPT_ERROR', firstLine(exceptionDetails.exception?.description ?? exceptionDetails.text, MESSAGE_LENGTH))
    }
  } catch (error) {
    time.signal.throwIfAborted()
    // A script that leaves the page ends with it.
    if (error instanceof CaptureError || !(tab.lifecycle.isMoving || tab.lifecycle.document !== document)) throw error
  }
}

/** What a client may not know who has switched the page's scripts off: scripts of the options run, but what they wait for never comes. */
export const timerNote = ({ context }: Work['plan']): string =>
  context.scriptsOff ? ': with javascript_enabled false no timer, frame or request of a script ever ends' : ''

function findScript({ texts }: Work, url: string): string {
  const text = texts?.get(url)
  if (text === undefined) throw new CaptureError('SCRIPT_ERROR', `a script could not be loaded: ${url}`)
  return text
}
