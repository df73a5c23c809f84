import type { HeadersScope } from '@tintype/crds/options/page/identity'
import type { Cookie, PrivateOptions } from '@tintype/crds/options/private'

// What private options mean for one address. Pure, and secret: nothing of it may be logged or reported.

/** A cookie as DevTools takes it. */
export interface CookiePlan {
  name: string
  value: string
  path: string
  /** Of a cookie for one host alone. */
  url?: string
  domain?: string
  expires?: number
  httpOnly: boolean
  secure: boolean
  sameSite?: 'Strict' | 'Lax' | 'None'
}

/** By what the page is to know the visitor. */
export interface SignInPlan {
  /** Scheme, host and port that headers and credentials are for, and nobody else's. */
  origin: string
  cookies: readonly CookiePlan[]
  /** By name; empty: none. */
  headers: Readonly<Record<string, string>>
  basicAuth?: { username: string; password: string }
  /** Which requests get the headers. */
  scope: HeadersScope
  /** By name, for the origin; empty: none. */
  localStorage: Readonly<Record<string, string>>
}

/** Works private options out; undefined where there are none. */
export function buildSignIn(url: string, options: PrivateOptions = {}, scope: HeadersScope = 'same_origin'): SignInPlan | undefined {
  const { proxyUsername: _, proxyPassword: __, ...own } = options
  if (Object.keys(own).length === 0) return undefined
  const { cookies = [], headers = {}, authorization, basicAuthUsername, basicAuthPassword = '', localStorage = {} } = own
  const { origin, host } = new URL(url)
  return {
    origin,
    cookies: cookies.map((cookie) => toCookiePlan(cookie, origin, host)),
    headers: { ...headers, ...(authorization === undefined ? {} : { Authorization: authorization }) },
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
  // An address of plain http may not set a secure cookie.
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
