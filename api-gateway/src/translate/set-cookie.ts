import { Cookie } from '@tintype/crds/capture-options/private'

const SAME_SITE: Readonly<Record<string, Cookie['sameSite']>> = { strict: 'Strict', lax: 'Lax', none: 'None' }

/** `Max-Age` is not among them: a cookie lives for one capture. */
function toAttribute(name: string, value: string): Partial<Cookie> {
  switch (name.toLowerCase()) {
    case 'domain':
      return value === '' ? {} : { domain: value }
    case 'path':
      return value.startsWith('/') ? { path: value } : {}
    case 'expires':
      return Number.isNaN(Date.parse(value)) ? {} : { expires: Math.max(0, Math.floor(Date.parse(value) / 1000)) }
    case 'samesite':
      return value.toLowerCase() in SAME_SITE ? { sameSite: SAME_SITE[value.toLowerCase()] } : {}
    case 'secure':
      return { secure: true }
    case 'httponly':
      return { httpOnly: true }
    default:
      return {}
  }
}

/** `a=b; c` → `['a', 'b']`, `['c', '']`. */
function splitPair(text: string): [string, string] {
  const at = text.indexOf('=')
  return at < 0 ? [text.trim(), ''] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}

/** Reads the text of a Set-Cookie header (RFC 6265, 5.2); undefined for what is no cookie. */
export function parseSetCookie(text: string): Cookie | undefined {
  const [pair = '', ...attributes] = text.split(';')
  if (!pair.includes('=')) return undefined
  const [name, value] = splitPair(pair)
  const read = attributes.map((attribute) => toAttribute(...splitPair(attribute)))
  return Cookie.safeParse(Object.assign({ name, value }, ...read)).data
}
