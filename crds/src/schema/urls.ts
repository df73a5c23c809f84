import { z } from 'zod'

export const MAX_URL_LENGTH = 8192

/**
 * URL to capture, as the API server can check it: about:html if the page is in the options, else http or https, a host, and no user name
 * or password, which an object must not contain in plain text. The pattern means the same to RE2 and JavaScript: it spells out `\s` and
 * `.`, which the two read differently.
 */
export const TARGET_URL_PATTERN = '^(about:html|https?://[^/?#@\\t\\n\\f\\r ]+([/?#][^\\n]*)?)$'

export const TargetUrl = z
  .string()
  .max(MAX_URL_LENGTH)
  .regex(new RegExp(TARGET_URL_PATTERN))
  .describe(
    'URL of the page: http or https, without user name or password, at most 8192 characters; about:html for options.html and options.markdown.',
  )

/** URL to post events to. Only its form is checked here. */
export const EndpointUrl = z
  .string()
  .max(2048)
  .regex(/^https:\/\/[^/?#@\t\n\f\r ]+([/?][^#\t\n\f\r ]*)?$/)

/** Maximum characters of a URL in a column of `kubectl get`, because one long URL widens every row. */
export const MAX_SHORT_URL = 80

/** Shortens a URL for a column, with an ellipsis at the end. */
export const toShortUrl = (url: string): string =>
  url.length <= MAX_SHORT_URL ? url : `${url.slice(0, MAX_SHORT_URL - 1).replace(/[\ud800-\udbff]$/, '')}…`
