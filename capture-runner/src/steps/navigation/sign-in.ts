import { toCall } from '../../page/call.ts'
import type { CookiePlan, SignInPlan } from '../../plan/identity.ts'
import { awaitResponse } from '../../runtime/race.ts'
import type { Step, Work } from '../step.ts'

/** Sets cookies and localStorage before the page opens. The interception of requests adds headers and credentials. */
export const signIn: Step = {
  name: 'signIn',
  isWanted: (plan) => plan.signIn !== undefined,
  run: async (work) => {
    if (!work.plan.signIn) return
    await setCookies(work.plan.signIn.cookies, work)
    await keepEntries(work.plan.signIn, work)
  },
}

/** Sets cookies one by one, so that one rejected cookie (such as `__Host-` with a domain) does not affect the others. */
async function setCookies(cookies: readonly CookiePlan[], { tab, findings, signal }: Work): Promise<void> {
  const refused = await Promise.all(cookies.map((cookie) => isRefused(cookie, tab.session, signal)))
  const places = refused.flatMap((isOut, index) => (isOut ? [index + 1] : []))
  if (places.length > 0) findings.warnings.push(`the browser rejected cookies (by position): ${places.join(', ')}`)
}

async function isRefused(cookie: CookiePlan, session: Work['tab']['session'], signal: AbortSignal): Promise<boolean> {
  const set = session.send('Network.setCookie', cookie).then(
    ({ success }) => !success,
    () => true,
  )
  return awaitResponse(set, signal)
}

/** Writes localStorage in each new document of the origin, before its scripts run. Does not overwrite values that the page has changed. */
async function keepEntries({ origin, localStorage }: SignInPlan, { tab, signal }: Work): Promise<void> {
  if (Object.keys(localStorage).length === 0) return
  const source = toCall('writeStorage', origin, localStorage)
  // A session runs its scripts only after Page.enable.
  await awaitResponse(tab.session.send('Page.enable'), signal)
  await awaitResponse(tab.session.send('Page.addScriptToEvaluateOnNewDocument', { source, worldName: 'tintype-sign-in' }), signal)
}
