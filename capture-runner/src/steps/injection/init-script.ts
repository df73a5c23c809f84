import { awaitResponse } from '../../runtime/race.ts'
import type { Step } from '../step.ts'
import { firstLine } from './syntax.ts'

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
