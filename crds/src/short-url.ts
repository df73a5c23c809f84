/** Characters of a URL that a column of `kubectl get` shows: one long URL makes every row as wide. */
export const MAX_SHORT_URL = 80

/** A URL for a column: its beginning, with an ellipsis where something is left out. */
export const toShortUrl = (url: string): string =>
  url.length <= MAX_SHORT_URL ? url : `${url.slice(0, MAX_SHORT_URL - 1).replace(/[\ud800-\udbff]$/, '')}…`
