import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'

// Ghostery's tracker list (CC BY-NC-SA: only used for measurements, and not distributed). It is independent of AdGuard's lists. It contains
// patterns and hosts by category.

/** A URL that matches an entry of a category. */
export interface KnownAddress {
  category: string
  url: string
}

/** Categories that must be blocked, and categories that must not be. */
export const UNWANTED: Readonly<Record<string, 'ads' | 'trackers'>> = {
  advertising: 'ads',
  pornvertising: 'ads',
  site_analytics: 'trackers',
}
export const WANTED = ['hosting', 'utilities', 'audio_video_player'] as const

const HEAD = /^! trackerdb_id:(\S+) trackerdb_category:(\S+) trackerdb_(filter|domain)$/

/** URLs of both kinds, one for each simple pattern of the list. */
export async function readForeignList(): Promise<KnownAddress[]> {
  const require = createRequire(import.meta.url)
  const file = path.join(path.dirname(require.resolve('@ghostery/trackerdb')), '../trackerdb.txt')
  const lines = (await readFile(file, 'utf8')).split('\n')
  return lines.flatMap((line, index) => {
    const [, , category = '', kind] = HEAD.exec(line) ?? []
    const url = kind === undefined ? undefined : toUrl(lines[index + 1] ?? '', kind)
    const isUsed = category in UNWANTED ? kind === 'filter' : kind === 'domain' && WANTED.some((wanted) => wanted === category)
    return url !== undefined && isUsed ? [{ category, url }] : []
  })
}

/** `||ads.example.com/px^$3p` → `https://ads.example.com/px`; undefined for patterns that match more than one URL. */
function toUrl(pattern: string, kind: string): string | undefined {
  const [, host, rest = ''] = /^\|\|([a-z0-9.-]+\.[a-z]{2,})(\/[^*$|]*?)?\^?(?:\$(?:3p|third-party))?$/.exec(pattern) ?? []
  if (host === undefined) return undefined
  return `https://${host}${rest.replaceAll('^', '/') || (kind === 'domain' ? '/lib/main.js' : '/')}`
}
