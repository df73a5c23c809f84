import { toCall } from '../../page/call.ts'
import type { SignInPlan } from '../../plan/identity.ts'
import { awaitResponse } from '../../runtime/race.ts'
import type { Step, Work } from '../step.ts'
import { setCookies } from './cookies.ts'

/** Sets cookies and localStorage before the page opens. The interception of requests adds headers and credentials. */
export const signIn: Step = {
  name: 'signIn',
  isWanted: (plan) => plan.signIn !== undefined,
  run: async (work) => {
    if (!work.plan.signIn) return
    await setCookies(work.plan.signIn, work)
    await keepEntries(work.plan.signIn, work)
  },
}

/** Writes localStorage in each new document of the origin, before its scripts run. Does not overwrite values that the page has changed. */
async function keepEntries({ origin, localStorage }: SignInPlan, { tab, signal }: Work): Promise<void> {
  if (Object.keys(localStorage).length === 0) return
  const source = toCall('writeStorage', origin, localStorage)
  // A session runs its scripts only after Page.enable.
  await awaitResponse(tab.session.send('Page.enable'), signal)
  await awaitResponse(tab.session.send('Page.addScriptToEvaluateOnNewDocument', { source, worldName: 'tintype-sign-in' }), signal)
}
