import { Cookie, PrivateOptions, privateContradictions, privateOptionNames } from '@tintype/crds/options/private'
import { renameKeys, toCamelCase, toSnakeCase } from '@tintype/crds/text/snake-case'
import { z } from 'zod'
import type { Problem } from '../../../common/errors.ts'

// Private options in the API. Header names stay unchanged. Cookies can be Set-Cookie texts, which are parsed here because a CRD schema cannot have a
// union.

const MAX_COOKIE_TEXT = 8192

const CookieBody = z.strictObject(renameKeys(Cookie.shape, toSnakeCase) as Record<string, z.ZodType>)
const CookieText = z
  .string()
  .max(MAX_COOKIE_TEXT)
  .refine((text) => parseSetCookie(text) !== undefined, { message: 'must be the text of a Set-Cookie header: name=value; …' })
const error = 'must be an object with a name and a value of at most 4096 characters together, or the text of a Set-Cookie header'
const cookies = z
  .array(z.union([CookieBody.refine((cookie) => toCookie(cookie) !== undefined, { error }), CookieText], { error }))
  .max(100)
  .describe(PrivateOptions.shape.cookies.unwrap().description ?? '')
  .optional()

const toCookie = (cookie: unknown): Cookie | undefined =>
  typeof cookie === 'string' ? parseSetCookie(cookie) : Cookie.safeParse(renameKeys(cookie as object, toCamelCase)).data

/** Private options by their API names. */
export const privateOptionFields: Record<string, z.ZodType> = { ...renameKeys(PrivateOptions.shape, toSnakeCase), cookies } as Record<
  string,
  z.ZodType
>

/** Extracts the private options from validated options. */
export function toPrivateOptions(options: Readonly<Record<string, unknown>>): PrivateOptions {
  const chosen = Object.entries(options)
    .map(([name, value]): [string, unknown] => [toCamelCase(name), value])
    .filter(([name, value]) => privateOptionNames.includes(name) && value !== undefined)
    .map(([name, value]) => [name, name === 'cookies' ? (value as unknown[]).map(toCookie) : value])
  return Object.fromEntries(chosen)
}

/** Checks that involve more than one option. */
export const findPrivateOptionProblems = (options: PrivateOptions): Problem[] =>
  privateContradictions
    .filter(({ holds }) => holds(options))
    .map(({ option, message }) => ({ path: `options.${toSnakeCase(option)}`, code: 'contradiction', message }))

const SAME_SITE: Readonly<Record<string, Cookie['sameSite']>> = { strict: 'Strict', lax: 'Lax', none: 'None' }

/** Ignores `Max-Age`, because a cookie is used for one capture only. */
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

/** Reads the text of a Set-Cookie header (RFC 6265, 5.2); undefined when it is not a cookie. */
export function parseSetCookie(text: string): Cookie | undefined {
  const [pair = '', ...attributes] = text.split(';')
  if (!pair.includes('=')) return undefined
  const [name, value] = splitPair(pair)
  const read = attributes.map((attribute) => toAttribute(...splitPair(attribute)))
  return Cookie.safeParse(Object.assign({ name, value }, ...read)).data
}
