import { answered } from '../../runtime/race.ts'
import type { Step } from '../step.ts'
import { firstLine } from './syntax.ts'

/** Has the client's JavaScript run before any script of the page, in every frame. */
export const initScript: Step = {
  name: 'initScript',
  isWanted: (plan) => plan.initScript !== undefined,
  run: async ({ tab, plan, findings, signal }) => {
    const { warnings } = findings
    tab.session.on('Runtime.exceptionThrown', ({ exceptionDetails: { url, text, exception, stackTrace } }) => {
      if (url !== SOURCE && !stackTrace?.callFrames.some((frame) => frame.url === SOURCE)) return
      const warning = `init_script threw: ${firstLine(exception?.description ?? text)}`
      if (!warnings.includes(warning)) warnings.push(warning)
    })
    // Only with this option: the browser tells of every message of the page from now on.
    await answered(tab.session.send('Runtime.enable'), signal)
    await answered(tab.addInitScript(`${plan.initScript ?? ''}\n//# sourceURL=${SOURCE}`), signal)
  },
}

/** By which its errors are told from those of the page. */
const SOURCE = 'init_script'
