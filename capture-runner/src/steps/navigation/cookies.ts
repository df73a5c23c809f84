import type { CookiePlan, SignInPlan } from '../../plan/identity.ts'
import { awaitResponse } from '../../runtime/race.ts'
import type { Step, UnsentCookies, UnusedCookie, Work } from '../step.ts'

// Sets the cookies of the client, and reports those of which the browser makes no use. Browsers drop cookies without an error. Warnings have the
// positions and names of cookies, never their values.

const EXPIRED = 'the browser did not keep cookies that have expired'
const REFUSED = 'the browser did not keep cookies that break its rules for names and attributes'
const UNUSED = 'cookies were not sent, because the page made no request to their hosts. Check domain and secure'
const BLOCKED = 'cookies were not sent with requests to another site than that of the page, which needs same_site None and secure'

const toKey = (name: string, host: string): string => `${name} ${host.replace(/^\./, '')}`

/** Sets cookies one by one, so that one that the browser refuses does not affect the others. */
export async function setCookies({ cookies, origin }: SignInPlan, work: Work): Promise<void> {
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
