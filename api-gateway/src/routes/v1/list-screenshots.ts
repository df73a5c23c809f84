import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { FastifyRequest } from 'fastify'
import {
  assertNoneArchived,
  buildListPage,
  buildLivePage,
  isLiveOnly,
  type ListPage,
  mergeRecords,
  scanLimitOf,
  sortLive,
  startOf,
} from '../../translate/screenshots/list-page.ts'
import { type ListQuery, parseListQuery } from '../../translate/screenshots/list-query.ts'
import { linksFor, readRecord } from '../links.ts'
import type { ScreenshotsDeps } from './deps.ts'

type ListDeps = Pick<ScreenshotsDeps, 'screenshots' | 'archive'>

/** Live and archived records, each once. The live ones are read whole before the archive is looked at. */
function readMerged(account: string, query: ListQuery, { screenshots, archive }: ListDeps): Promise<ListPage> {
  const { order } = query
  const start = startOf(query)
  // The copy gives the newest first, from anywhere: of the oldest, all are read.
  const live =
    order === 'asc'
      ? screenshots.page(account, undefined, Number.POSITIVE_INFINITY)
      : screenshots.page(account, start, scanLimitOf(query) + 1)
  const archived = archive.scan(account, start, order === 'asc' ? 'oldest' : 'newest')
  return buildListPage(mergeRecords(sortLive(live, start, query), archived, order), query)
}

/** By another instant than that of creation: live records only, and only where there is nothing else. */
async function readLive(account: string, query: ListQuery, { screenshots, archive }: ListDeps): Promise<ListPage> {
  const start = startOf({ ...query, order: 'desc', cursor: undefined })
  const live = screenshots.page(account, start, Number.POSITIVE_INFINITY)
  assertNoneArchived(await firstOf(archive.scan(account, start)), query)
  return buildLivePage(live, query)
}

async function firstOf(records: AsyncIterable<Screenshot>): Promise<Screenshot | undefined> {
  for await (const record of records) return record
  return undefined
}

/** GET /screenshots (spec 4.2). */
export async function listScreenshots(request: FastifyRequest<{ Querystring: Record<string, unknown> }>, deps: ScreenshotsDeps) {
  const query = parseListQuery(request.query)
  const read = isLiveOnly(query) ? readLive : readMerged
  const { items, hasMore, nextCursor } = await read(request.accountName, query, deps)
  const linkTo = linksFor(request, deps)
  return {
    success: true,
    data: items.map((screenshot) => readRecord(screenshot, linkTo).record),
    pagination: { limit: query.limit, offset: query.offset, has_more: hasMore, next_cursor: nextCursor },
  }
}
