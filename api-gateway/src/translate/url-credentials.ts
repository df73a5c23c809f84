import { PrivateOptions } from '@tintype/crds/capture-options/private'
import type { Problem } from '../errors.ts'

// `https://user:password@host/`: no object, record or log holds such an address. The credentials become private options, and the
// rest is the address.

const AUTHORITY = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#\\]*)@/i

/** An address, and what it said before its host. */
export interface SplitAddress {
  text: string
  credentials?: PrivateOptions
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A lone percent sign stands for itself, as in browsers.
    return text
  }
}

/** Takes user name and password out of an address. The last `@` before the path ends them, as browsers read it. */
export function splitCredentials(text: string): SplitAddress {
  const [whole, scheme = '', userinfo = ''] = AUTHORITY.exec(text) ?? []
  if (whole === undefined) return { text }
  const rest = scheme + text.slice(whole.length)
  const [user = '', ...password] = userinfo.split(':')
  if (userinfo === '' || userinfo === ':') return { text: rest }
  return { text: rest, credentials: { basicAuthUsername: decode(user), basicAuthPassword: decode(password.join(':')) } }
}

/** What is wrong with the credentials of an address. */
export function findCredentialProblems(credentials: PrivateOptions | undefined, path: string): Problem[] {
  if (credentials === undefined || PrivateOptions.safeParse(credentials).success) return []
  return [{ path, code: 'too_big', message: 'user name and password in the url must be at most 1024 characters long each' }]
}
