import { privateContradictions } from '@tintype/crds/options/contradictions'
import { Cookie, PrivateOptions, privateOptionNames } from '@tintype/crds/options/private'
import { describeIssue, toPath } from '@tintype/crds/schema/issue-messages'
import { renameKeys, toCamelCase, toSnakeCase } from '@tintype/crds/text/words'
import { z } from 'zod'
import type { Problem } from '../../../common/errors.ts'
import { isObject } from '../../../http/body.ts'

// Private options in the API. Header names stay unchanged. Cookies can be Set-Cookie texts, which are parsed here because a CRD schema cannot have a
// union.

const MAX_COOKIE_TEXT = 8192

const CookieBody = z.strictObject(renameKeys(Cookie.shape, toSnakeCase) as Record<string, z.ZodType>)
const COOKIE_FORM = 'must be an object with a name and a value of at most 4096 characters together, or the text of a Set-Cookie header'
/** What is wrong with a cookie whose fields are valid by themselves, or with the text of one. */
const error = ({ input }: { input?: unknown }): string => {
  const body = typeof input === 'string' ? splitSetCookie(input) : isObject(input) ? renameKeys(input, toCamelCase) : undefined
  const [issue] = body === undefined ? [] : (Cookie.safeParse(body).error?.issues ?? [])
  if (issue === undefined) return COOKIE_FORM
  return issue.code === 'custom' ? issue.message : describeIssue(issue, toPath(issue.path), { schema: Cookie, body })
}
const CookieText = z
  .string()
  .max(MAX_COOKIE_TEXT)
  .refine((text) => parseSetCookie(text) !== undefined, { error })
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
    .map(({ paths: [option], message }) => ({ path: `options.${toSnakeCase(option)}`, code: 'contradiction', message }))

const SAME_SITE: Readonly<Record<string, Cookie['sameSite']>> = { strict: 'Strict', lax: 'Lax', none: 'None' }

/** In a header, a Domain has the same meaning with and without a dot at its start. IP addresses and names of one label have no subdomains. */
const isName = (domain: string): boolean => /^[^.].*\.[^.]*[a-z]/i.test(domain)

/** Ignores `Max-Age`, because a cookie is used for one capture only. */
function toAttribute(name: string, value: string): Partial<Cookie> {
  switch (name.toLowerCase()) {
    case 'domain':
      return value === '' ? {} : { domain: isName(value) ? `.${value}` : value }
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

/** The fields of the text of a Set-Cookie header (RFC 6265, 5.2), unchecked. */
function splitSetCookie(text: string): Partial<Cookie> | undefined {
  const [pair = '', ...attributes] = text.split(';')
  if (!pair.includes('=')) return undefined
  const [name, value] = splitPair(pair)
  return Object.assign({ name, value }, ...attributes.map((attribute) => toAttribute(...splitPair(attribute))))
}

/** Reads the text of a Set-Cookie header; undefined when it is not a cookie. */
export const parseSetCookie = (text: string): Cookie | undefined => Cookie.safeParse(splitSetCookie(text)).data
