import { createdAtOf, screenshotIdOf } from '@tintype/crds/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { toWireStatus } from '@tintype/crds/record'
import type { ListQuery } from './list-query.ts'

/** Records that one request looks at, at most: a page may be short and have a next one all the same (decision 9). */
export const MAX_SCANNED = 10_000
const CHUNK = 500

export interface ListPage {
  items: Screenshot[]
  hasMore: boolean
  /** Id of the last record looked at. */
  nextCursor: string | null
}

/** Live screenshots of one account after an id, newest first. */
export type ReadChunk = (after: string | undefined, limit: number) => readonly Screenshot[]

function matches(screenshot: Screenshot, createdAt: Date, { statuses, url, format, createdBefore }: ListQuery): boolean {
  const { spec, status } = screenshot
  return (
    (statuses === undefined || statuses.includes(toWireStatus(status?.phase))) &&
    (url === undefined || spec.url === url) &&
    (format === undefined || (spec.options?.format ?? 'png') === format) &&
    (createdBefore === undefined || createdAt < createdBefore)
  )
}

/** One page: scans newest first until it has one more than wanted, so that `hasMore` is exact. */
export function buildListPage(read: ReadChunk, query: ListQuery): ListPage {
  const items: Screenshot[] = []
  let skip = query.offset
  let cursor = query.cursor
  for (let scanned = 0; scanned < MAX_SCANNED + query.offset; ) {
    const chunk = read(cursor, CHUNK)
    for (const screenshot of chunk) {
      const id = screenshotIdOf(screenshot.metadata)
      const createdAt = createdAtOf(id)
      if (query.createdAfter && createdAt <= query.createdAfter) return { items, hasMore: false, nextCursor: null }
      if (matches(screenshot, createdAt, query) && skip-- <= 0) {
        if (items.length === query.limit) return { items, hasMore: true, nextCursor: cursor ?? null }
        items.push(screenshot)
      }
      cursor = id
    }
    scanned += chunk.length
    if (chunk.length < CHUNK) return { items, hasMore: false, nextCursor: null }
  }
  return { items, hasMore: true, nextCursor: cursor ?? null }
}
