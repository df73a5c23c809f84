import type { Tab } from '../../browser/tab.ts'
import { abortable } from '../../runtime/race.ts'

type Parameters = { url: string; referrer?: string; referrerPolicy?: 'unsafeUrl' }

/** Opens a URL in a tab. Resolves when its document has replaced the one before, or when none will. @throws the signal's reason */
export async function openUrl({ session, frames }: Tab, parameters: Parameters, signal: AbortSignal) {
  // A frame that is under way when the document is replaced may keep the browser from ever drawing the new one.
  await frames?.stop(signal)
  const answer = await abortable(session.send('Page.navigate', parameters), signal)
  frames?.start()
  return answer
}
