import type { CookiePlan, SignInPlan } from '../../plan/identity.ts'
import { answered } from '../../runtime/race.ts'
import type { Step, Work } from '../step.ts'

/** Gives the browser cookies and stored entries before the page is opened; headers and credentials are added to the requests that are held. */
export const signIn: Step = {
  name: 'signIn',
  isWanted: (plan) => plan.signIn !== undefined,
  run: async (work) => {
    if (!work.plan.signIn) return
    await setCookies(work.plan.signIn.cookies, work)
    await keepEntries(work.plan.signIn, work)
  },
}

/** One by one, so that one that the browser refuses, such as `__Host-` with a domain, costs no other. */
async function setCookies(cookies: readonly CookiePlan[], { tab, findings, signal }: Work): Promise<void> {
  const refused = await Promise.all(cookies.map((cookie) => isRefused(cookie, tab.session, signal)))
  const places = refused.flatMap((isOut, index) => (isOut ? [index + 1] : []))
  if (places.length > 0) findings.warnings.push(`the browser refused cookies (by their place): ${places.join(', ')}`)
}

async function isRefused(cookie: CookiePlan, session: Work['tab']['session'], signal: AbortSignal): Promise<boolean> {
  const set = session.send('Network.setCookie', cookie).then(
    ({ success }) => !success,
    () => true,
  )
  return answered(set, signal)
}

/** Writes the entries of localStorage as soon as there is a document of the origin, before any script of it runs; what the page has changed since stays. */
async function keepEntries({ origin, localStorage }: SignInPlan, { tab, signal }: Work): Promise<void> {
  if (Object.keys(localStorage).length === 0) return
  const source = `if (location.origin === ${JSON.stringify(origin)}) {
  for (const [name, value] of Object.entries(${JSON.stringify(localStorage)})) localStorage.getItem(name) ?? localStorage.setItem(name, value)
}`
  // A session runs its scripts only where it is told of pages.
  await answered(tab.session.send('Page.enable'), signal)
  await answered(tab.session.send('Page.addScriptToEvaluateOnNewDocument', { source, worldName: 'tintype-sign-in' }), signal)
}
