import { CaptureError } from '../../runtime/errors.ts'
import { abortable, awaitResponse, bounded } from '../../runtime/race.ts'
import { arriveAgain, follow } from '../navigation/navigate.ts'
import { openTabsHere } from '../navigation/new-tabs.ts'
import type { Step, Work } from '../step.ts'
import { firstLine } from './syntax.ts'

const MESSAGE_LENGTH = 500

/** Runs the client's JavaScript in the page, with top-level `await`, and follows a navigation that it starts. */
export const scripts: Step = {
  name: 'scripts',
  code: 'SCRIPT_ERROR',
  isWanted: ({ options }) => options.scripts !== undefined || options.scriptUrls !== undefined,
  run: async (work) => {
    const { scriptUrls = [], scripts: text, scriptsWaitUntil } = work.plan.options
    const act = async () => {
      for (const url of scriptUrls) await tolerate(work, async () => runScript(work, findScript(work, url)))
      if (text !== undefined) await tolerate(work, () => runScript(work, text))
    }
    await openTabsHere(work, 'scripts', act, () => (scriptsWaitUntil ? arriveAgain(work, scriptsWaitUntil) : follow(work)))
  },
}

/** Turns a script's failure into a warning unless fail_on_script_error is set. */
async function tolerate({ plan, findings }: Work, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (plan.options.failOnScriptError || !(error instanceof CaptureError) || error.code !== 'SCRIPT_ERROR') throw error
    findings.warnings.push(`a script failed: ${error.message}`)
  }
}

async function runScript(work: Work, expression: string): Promise<void> {
  const { tab, plan } = work
  const tooSlow = () => new CaptureError('TIMEOUT', `scripts did not end within ${plan.options.timeout} ms${timerNote(plan)}`)
  using time = bounded(work.signal, plan.options.timeout, tooSlow)
  const { document } = tab.lifecycle
  const evaluation = { expression, awaitPromise: true, replMode: true, userGesture: true }
  try {
    const { exceptionDetails } = await abortable(tab.session.send('Runtime.evaluate', evaluation), time.signal)
    if (exceptionDetails) {
      throw new CaptureError('SCRIPT_ERROR', firstLine(exceptionDetails.exception?.description ?? exceptionDetails.text, MESSAGE_LENGTH))
    }
  } catch (error) {
    time.signal.throwIfAborted()
    // A script that navigates the page ends with the document.
    if (error instanceof CaptureError || !(tab.lifecycle.isMoving || tab.lifecycle.document !== document)) throw error
  }
}

/** Explains a timeout with javascript_enabled false: the client's scripts run, but timers and requests that they wait for never complete. */
export const timerNote = ({ context }: Work['plan']): string =>
  context.scriptsOff ? ': with javascript_enabled false, timers, animation frames and requests of scripts never complete' : ''

function findScript({ texts }: Work, url: string): string {
  const text = texts?.get(url)
  if (text === undefined) throw new CaptureError('SCRIPT_ERROR', `a script could not be loaded: ${url}`)
  return text
}

/** Runs the client's JavaScript in every frame before any script of the page. */
export const initScript: Step = {
  name: 'initScript',
  isWanted: ({ options }) => options.initScript !== undefined,
  run: async ({ tab, plan, findings, signal }) => {
    const { warnings } = findings
    tab.session.on('Runtime.exceptionThrown', ({ exceptionDetails: { url, text, exception, stackTrace } }) => {
      if (url !== SOURCE && !stackTrace?.callFrames.some((frame) => frame.url === SOURCE)) return
      const warning = `init_script threw: ${firstLine(exception?.description ?? text)}`
      if (!warnings.includes(warning)) warnings.push(warning)
    })
    // Only with this option, because the browser reports every console message of the page from now on.
    await awaitResponse(tab.session.send('Runtime.enable'), signal)
    await awaitResponse(tab.addInitScript(`${plan.options.initScript ?? ''}\n//# sourceURL=${SOURCE}`), signal)
  },
}

/** Distinguishes its errors from those of the page. */
const SOURCE = 'init_script'
