import { z } from 'zod'

export const MAX_URL_LENGTH = 8192

/**
 * An address to capture, as the API server can check it: about:html for markup that is among the options, else http or https, a host, and no user name or password, which no object may hold in
 * the clear. RE2 reads the same expression; `\s` and `.` are spelled out because the two engines read them differently.
 */
export const TARGET_URL_PATTERN = '^(about:html|https?://[^/?#@\\t\\n\\f\\r ]+([/?#][^\\n]*)?)$'

export const TargetUrl = z
  .string()
  .max(MAX_URL_LENGTH)
  .regex(new RegExp(TARGET_URL_PATTERN))
  .describe(
    'Address of the page: http or https, without user name and password, at most 8192 characters; about:html for options.html and options.markdown.',
  )

/** An address that events may be posted to, as far as its form tells. */
export const EndpointUrl = z
  .string()
  .max(2048)
  .regex(/^https:\/\/[^/?#@\t\n\f\r ]+([/?][^#\t\n\f\r ]*)?$/)

/** Characters of a URL that a column of `kubectl get` shows: one long URL makes every row as wide. */
export const MAX_SHORT_URL = 80

/** A URL for a column: its beginning, with an ellipsis where something is left out. */
export const toShortUrl = (url: string): string =>
  url.length <= MAX_SHORT_URL ? url : `${url.slice(0, MAX_SHORT_URL - 1).replace(/[\ud800-\udbff]$/, '')}…`
