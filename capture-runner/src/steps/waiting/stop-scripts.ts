import { callInPage } from '../../page/call.ts'
import { awaitResponse } from '../../runtime/race.ts'
import { inDocument } from '../in-document.ts'
import type { Work } from '../step.ts'

/** Warning of a page whose scripts were too slow. */
export const STOPPED = 'the scripts of the page took longer than its timers allow, and were stopped before the picture was taken'

/** Stops all scripts of the page and its frames for good. Style sheets and `<noscript>` continue as if scripts were enabled. */
export async function stopScripts(work: Work): Promise<void> {
  const { tab, signal } = work
  await inDocument(work, undefined, () => callInPage(work, 'keepScriptingRules'))
  const disable = { value: true }
  for (const frame of tab.foreignFrames()) frame.send('Emulation.setScriptExecutionDisabled', disable).catch(() => {})
  await awaitResponse(tab.session.send('Emulation.setScriptExecutionDisabled', disable), signal)
}
