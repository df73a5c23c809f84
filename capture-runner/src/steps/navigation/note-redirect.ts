import { callInPage } from '../../page/call.ts'
import type { SignInPlan } from '../../plan/identity.ts'
import { type CapturePlan, hasActions } from '../../plan/plan.ts'
import { SYNTHETIC_ADDRESS } from '../../plan/source.ts'
import { awaitResponse } from '../../runtime/race.ts'
import type { Step, Work } from '../step.ts'

/** Adds a warning if the page is not the one for which the client's credentials and entries are, and did not get them. */
const noteRedirect: Step = {
  name: 'noteRedirect',
  onFailure: 'warn',
  run: async (work) => {
    const { signIn, url } = work.plan
    const shown = new URL(await callInPage(work, 'readUrl'))
    if (!signIn || !/^https?:$/.test(shown.protocol)) return
    const unused = await findUnused(work, signIn, shown.origin)
    if (unused.length === 0) return
    const list = unused.join(', ')
    const from = url === SYNTHETIC_ADDRESS ? 'the markup' : signIn.origin
    work.findings.warnings.push(
      shown.origin === signIn.origin
        ? `the page came back to ${from} by way of another origin, and did not get ${list}. Set url to the final URL`
        : `the page redirected from ${from} to ${shown.origin}, which did not get ${list}. If it may have that, set url to a page of ${shown.origin}`,
    )
  },
}

const isSignedIn = ({ signIn }: CapturePlan): boolean => signIn !== undefined

/** Before actions of the client, because these may leave the origin on purpose. */
export const noteEarlyRedirect: Step = { ...noteRedirect, isWanted: (plan) => isSignedIn(plan) && hasActions(plan) }

/** At the end, because scripts of the page may redirect late. */
export const noteLateRedirect: Step = { ...noteRedirect, isWanted: (plan) => isSignedIn(plan) && !hasActions(plan) }

/** Names of the options that the page did not get. */
async function findUnused(work: Work, signIn: SignInPlan, shown: string): Promise<string[]> {
  const { tab, signInGaps } = work
  const isOther = shown !== signIn.origin
  return [
    ...(isOther && Object.keys(signIn.localStorage).length > 0 ? ['local_storage'] : []),
    ...(isOther && (await hasUnusedCookie(work, signIn, shown)) ? ['cookies'] : []),
    ...(signInGaps?.bare.has(tab.lifecycle.document ?? '') ? signIn.headerOptions : []),
    // A password is sent to a page that asks for it only.
    ...(signIn.basicAuth && signInGaps?.refused.has(shown) ? ['basic_auth_username'] : []),
  ]
}

/** Whether the browser would send one of the cookies to its path at the URL's origin, but not at the one that is shown. */
async function hasUnusedCookie({ tab, signal }: Work, { cookies, origin }: SignInPlan, shown: string): Promise<boolean> {
  if (cookies.length === 0) return false
  const names = new Set(cookies.map(({ name }) => name))
  const sentTo = async (to: string): Promise<string[]> => {
    const urls = [...new Set(cookies.map(({ path }) => `${to}${path}`))]
    const sent = await awaitResponse(tab.session.send('Network.getCookies', { urls }), signal)
    return sent.cookies.filter(({ name }) => names.has(name)).map(({ name, domain, path }) => JSON.stringify([name, domain, path]))
  }
  const [wanted, used] = [await sentTo(origin), new Set(await sentTo(shown))]
  return wanted.some((cookie) => !used.has(cookie))
}
