import { callInPage, toCall } from '../../page/call.ts'
import type { CookiePlan, SignInPlan } from '../../plan/identity.ts'
import { type CapturePlan, hasActions } from '../../plan/plan.ts'
import { SYNTHETIC_ADDRESS } from '../../plan/source.ts'
import { awaitResponse } from '../../runtime/race.ts'
import type { Step, UnsentCookies, UnusedCookie, Work } from '../step.ts'

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

// Sets the cookies of the client, and reports those of which the browser makes no use. Browsers drop cookies without an error. Warnings have the
// positions and names of cookies, never their values.

const EXPIRED = 'the browser did not keep cookies that have expired'
const REFUSED = 'the browser did not keep cookies that break its rules for names and attributes'
const UNUSED = 'cookies were not sent, because the page made no request to their hosts. Check domain and secure'
const BLOCKED = 'cookies were not sent with requests to another site than that of the page, which needs same_site None and secure'

const toKey = (name: string, host: string): string => `${name} ${host.replace(/^\./, '')}`

/** Sets cookies one by one, so that one that the browser refuses does not affect the others. */
async function setCookies({ cookies, origin }: SignInPlan, work: Work): Promise<void> {
  const set = async (cookie: CookiePlan, index: number): Promise<UnusedCookie[]> => {
    const [label, host] = [`cookies[${index}] (${cookie.name})`, hostOf(cookie)]
    const isSet = await trySet(cookie, work)
    if (isSet && (await isFor(origin, cookie, work))) return []
    if (isSet && (await isFor(`https://${host}`, cookie, work))) {
      return [{ label: `${label} for ${cookie.secure ? 'https' : 'http'}://${host}`, warning: UNUSED, key: toKey(cookie.name, host) }]
    }
    return [{ label, warning: (cookie.expires ?? Number.POSITIVE_INFINITY) * 1_000 <= Date.now() ? EXPIRED : REFUSED }]
  }
  const unused = (await Promise.all(cookies.map(set))).flat()
  warn(
    unused.filter(({ key }) => key === undefined),
    work,
  )
  const unsent: UnsentCookies = new Map(unused.flatMap((cookie) => (cookie.key === undefined ? [] : [[cookie.key, cookie]])))
  if (unsent.size === 0) return
  work.unsentCookies = unsent
  // A page may lead to other sites, or call them.
  work.tab.session.on('Network.requestWillBeSentExtraInfo', ({ associatedCookies }) => {
    for (const { cookie, blockedReasons } of associatedCookies) {
      const key = toKey(cookie.name, cookie.domain)
      const known = unsent.get(key)
      if (blockedReasons.length === 0) unsent.delete(key)
      else if (known && blockedReasons.some((reason) => reason.includes('SameSite'))) known.warning = BLOCKED
    }
  })
}

/** Adds a warning for the cookies that no request sent. */
export const noteCookies: Step = {
  name: 'noteCookies',
  isWanted: ({ signIn }) => signIn !== undefined && signIn.cookies.length > 0,
  run: async (work) => warn([...(work.unsentCookies?.values() ?? [])], work),
}

function warn(cookies: readonly UnusedCookie[], { findings }: Work): void {
  for (const [warning, same] of Map.groupBy(cookies, ({ warning }) => warning))
    findings.warnings.push(`${warning}: ${same.map(({ label }) => label).join(', ')}`)
}

const hostOf = ({ domain, url = '' }: CookiePlan): string => {
  const host = domain?.replace(/^\./, '')
  return host === undefined ? new URL(url).hostname : (URL.parse(`http://${host}`)?.hostname ?? host)
}

function trySet(cookie: CookiePlan, { tab, signal }: Work): Promise<boolean> {
  const set = tab.session.send('Network.setCookie', cookie).then(
    ({ success }) => success,
    () => false,
  )
  return awaitResponse(set, signal)
}

/** True if the browser has the cookie, and sends it to its path at an origin. */
async function isFor(origin: string, cookie: CookiePlan, { tab, signal }: Work): Promise<boolean> {
  // A space at the end would be cut off.
  const urls = [`${origin}${cookie.path.replaceAll(' ', '%20')}`]
  const { cookies } = await awaitResponse(tab.session.send('Network.getCookies', { urls }), signal)
  const name = cookie.name.toWellFormed()
  const key = toKey(name, hostOf(cookie))
  return cookies.some((kept) => kept.name === name && (cookie.domain === undefined || toKey(name, kept.domain) === key))
}

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
