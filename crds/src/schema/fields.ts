import { z } from 'zod'
import type { CelRule } from './custom-resource.ts'

export const MAX_URL_LENGTH = 8192

/**
 * URL to capture, as the API server can check it: about:html if the page is in the options, else http or https, a host, and no user name
 * or password, which an object must not contain in plain text. The pattern means the same to RE2 and JavaScript: it spells out `\s` and
 * `.`, which the two read differently.
 */
const TARGET_URL_PATTERN = '^(about:html|https?://[^/?#@\\t\\n\\f\\r ]+([/?#][^\\n]*)?)$'

/** Content of classes in RE2: white space of Unicode, and characters that browsers ignore in host names. */
const WHITE_SPACE = '\\s\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}'
const IGNORED = '\\x{ad}\\x{34f}\\x{180b}-\\x{180f}\\x{200b}-\\x{200f}\\x{2060}-\\x{2064}\\x{fe00}-\\x{fe0f}\\x{feff}'

/**
 * The API server also refuses a URL whose host is missing or blank. The gateway parses the URL instead. The programs still read objects with
 * such URLs.
 */
const hostRule: CelRule = {
  rule: `self.matches(r'^(about:html$|https?://[${IGNORED}]*[^${IGNORED}${WHITE_SPACE}:/?#][^${WHITE_SPACE}/?#]*([/?#]|$))')`,
  message: 'the URL has no host, or white space in it: use a URL such as https://example.com/',
}

export const TargetUrl = z
  .string()
  .max(MAX_URL_LENGTH)
  .regex(new RegExp(TARGET_URL_PATTERN))
  .meta({ 'x-kubernetes-validations': [hostRule] })
  .describe(
    'URL of the page: http or https, without user name or password, at most 8192 characters; about:html for options.html and options.markdown.',
  )

/** URL to post events to. Only its form is checked here. */
export const EndpointUrl = z
  .string()
  .max(2048)
  .regex(/^https:\/\/[^/?#@\t\n\f\r ]+([/?][^#\t\n\f\r ]*)?$/)
  .meta({ 'x-kubernetes-validations': [hostRule] })

/** Maximum characters of a URL in a column of `kubectl get`, because one long URL widens every row. */
export const MAX_SHORT_URL = 80

/** Shortens a URL for a column, with an ellipsis at the end. */
export const toShortUrl = (url: string): string =>
  url.length <= MAX_SHORT_URL ? url : `${url.slice(0, MAX_SHORT_URL - 1).replace(/[\ud800-\udbff]$/, '')}…`

// Fields of records in the REST API and in events.

/** Text of 26 lower-case base32 letters that every id ends with. */
const TAIL = '[0-7][0-9a-hjkmnp-tv-z]{25}'

/** An id with its prefix. */
export const anId = (prefix: 'scr' | 'wh' | 'key' | 'sch' | 'batch' | 'evt' | 'dlv', what: string) =>
  z
    .string()
    .regex(new RegExp(`^${prefix}_${TAIL}$`), `must be an id that begins with ${prefix}_ and has 26 letters and digits after it`)
    .describe(what)

/** A timestamp: ISO 8601 in UTC with milliseconds. */
export const instant = (what: string) =>
  z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
    .meta({ format: 'date-time' })
    .describe(what)

export const count = (what: string) => z.int().min(0).describe(what)
