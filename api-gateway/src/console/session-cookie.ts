import type { IncomingHttpHeaders } from 'node:http'
import { SESSION_MILLISECONDS } from './session-token.ts'

// The cookie of the web console, and the headers without which it does not count.

/** Browsers accept a name with this prefix only from the host itself, over TLS. */
const SECURE_NAME = '__Host-tintype-session'
const PLAIN_NAME = 'tintype-session'

/** Request header that the console sends. Pages of other origins cannot send it without a CORS preflight, which never allows it. */
export const CONSOLE_HEADER = 'x-tintype-console'

/** True for requests that the console's own page sends. Browsers set Sec-Fetch-Site, and pages cannot change it. */
export const isFromConsole = (headers: IncomingHttpHeaders): boolean =>
  headers[CONSOLE_HEADER] === '1' && headers['sec-fetch-site'] === 'same-origin'

/** True if the browser sees TLS. Browsers send Origin with every request that is not a GET or HEAD. */
export const isOverTls = ({ origin = '', 'x-forwarded-proto': forwarded }: IncomingHttpHeaders): boolean =>
  origin.startsWith('https://') || forwarded === 'https'

function readCookies(header = ''): Map<string, string> {
  const pairs = header.split(';').map((part): [string, string] => {
    const at = part.indexOf('=')
    return [part.slice(0, at).trim(), part.slice(at + 1).trim()]
  })
  return new Map(pairs)
}

/** The session's token, or undefined. Over TLS only the cookie with the `__Host-` prefix counts, because subdomains can set others. */
export function sessionTokenOf(headers: IncomingHttpHeaders): string | undefined {
  const cookies = readCookies(headers.cookie)
  return cookies.get(SECURE_NAME) ?? (isOverTls(headers) ? undefined : cookies.get(PLAIN_NAME))
}

const cookieOf = (token: string, seconds: number, isSecure: boolean): string =>
  `${isSecure ? SECURE_NAME : PLAIN_NAME}=${token}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`

/** Set-Cookie of a new session. */
export const toSessionCookie = (token: string, headers: IncomingHttpHeaders): string =>
  cookieOf(token, SESSION_MILLISECONDS / 1_000, isOverTls(headers))

/** Set-Cookie that removes the session. */
export const toEndedCookie = (headers: IncomingHttpHeaders): string => cookieOf('', 0, isOverTls(headers))
