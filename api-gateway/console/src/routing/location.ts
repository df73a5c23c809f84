// Routes are in the fragment, so that the gateway serves one page and the console works below any prefix.

export interface Location {
  /** Parts of the path: `#/screenshots/scr_…` → `['screenshots', 'scr_…']`. */
  parts: readonly string[]
  query: URLSearchParams
}

export function parseLocation(hash: string): Location {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  return { parts: path.split('/').filter(Boolean).map(decode), query: new URLSearchParams(query) }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
