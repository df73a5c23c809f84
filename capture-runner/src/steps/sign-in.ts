import type { CookiePlan } from '../plans/identity.ts'
import { answered } from '../race.ts'
import type { Step, Work } from './step.ts'

/** Gives the browser cookies before the page is opened; headers and credentials are added to the requests that are held. */
export const signIn: Step = {
  name: 'signIn',
  isWanted: (plan) => plan.signIn !== undefined,
  run: async (work) => {
    if (work.plan.signIn) await setCookies(work.plan.signIn.cookies, work)
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
