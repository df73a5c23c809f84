import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import type { Cookie, PrivateOptions } from '@tintype/crds/options/private'

// Converts private options for one URL. Pure functions. The results are secret: never log or report them.

/** A cookie as DevTools expects it. */
export interface CookiePlan {
  name: string
  value: string
  path: string
  /** For a host-only cookie. */
  url?: string
  domain?: string
  expires?: number
  httpOnly: boolean
  secure: boolean
  sameSite?: 'Strict' | 'Lax' | 'None'
}

/** Credentials and stored data for the page. */
export interface SignInPlan {
  /** The only origin that gets headers and credentials, unless `scope` says otherwise. */
  origin: string
  cookies: readonly CookiePlan[]
  /** By name; empty: none. */
  headers: Readonly<Record<string, string>>
  /** Names of the options that set headers. */
  headerOptions: readonly string[]
  basicAuth?: { username: string; password: string }
  /** Which requests get the headers. */
  scope: EffectiveOptions['headersScope']
  /** By name, for the origin; empty: none. */
  localStorage: Readonly<Record<string, string>>
}

/** Builds the plan from private options; undefined if there are none. */
export function buildSignIn(url: string, options: PrivateOptions = {}, scope: SignInPlan['scope'] = 'same_origin'): SignInPlan | undefined {
  const { proxyUsername: _, proxyPassword: __, ...own } = options
  if (Object.keys(own).length === 0) return undefined
  const { cookies = [], headers = {}, authorization, basicAuthUsername, basicAuthPassword = '', localStorage = {} } = own
  const { origin, host } = new URL(url)
  return {
    origin,
    cookies: cookies.map((cookie) => toCookiePlan(cookie, origin, host)),
    headers: { ...headers, ...(authorization === undefined ? {} : { Authorization: authorization }) },
    headerOptions: [...(Object.keys(headers).length > 0 ? ['headers'] : []), ...(authorization === undefined ? [] : ['authorization'])],
    ...(basicAuthUsername === undefined ? {} : { basicAuth: { username: basicAuthUsername, password: basicAuthPassword } }),
    scope,
    localStorage,
  }
}

function toCookiePlan(
  { name, value, domain, path = '/', expires, httpOnly = false, secure = false, sameSite }: Cookie,
  origin: string,
  host: string,
): CookiePlan {
  // A plain http URL cannot set a secure cookie.
  const place = domain === undefined ? { url: secure ? `https://${host}/` : `${origin}/` } : { domain }
  return {
    name,
    value,
    path,
    ...place,
    ...(expires === undefined ? {} : { expires }),
    httpOnly,
    secure,
    ...(sameSite === undefined ? {} : { sameSite }),
  }
}
