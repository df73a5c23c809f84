import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Input } from '../../http/route.ts'
import type { ScreenshotsDeps } from './deps.ts'
import type { CaptureKind } from './kind.ts'
import { readRecord } from './links.ts'
import {
  assertNoneArchived,
  buildListPage,
  buildLivePage,
  isLiveOnly,
  type KindQuery,
  type ListPage,
  mergeRecords,
  scanLimitOf,
  sortLive,
  startOf,
} from './list-page.ts'
import type { ListQuery } from './list-query.ts'

type ListDeps = Pick<ScreenshotsDeps, 'screenshots' | 'archive'>

/** Merges live and archived records without duplicates. All live records are read before the archive. */
function readMerged(account: string, query: KindQuery, { screenshots, archive }: ListDeps): Promise<ListPage> {
  const { order } = query
  const start = startOf(query)
  // The cache lists newest first. For oldest first, all live records are read.
  const live =
    order === 'asc'
      ? screenshots.page(account, undefined, Number.POSITIVE_INFINITY)
      : screenshots.page(account, start, scanLimitOf(query) + 1)
  const archived = archive.scan(account, start, order === 'asc' ? 'oldest' : 'newest')
  return buildListPage(mergeRecords(sortLive(live, start, query), archived, order), query)
}

/** Lists by completion time, which works only for live records. Fails when the range has archived ones. */
async function readLive(account: string, query: KindQuery, { screenshots, archive }: ListDeps): Promise<ListPage> {
  const start = startOf({ ...query, order: 'desc', cursor: undefined })
  const live = screenshots.page(account, start, Number.POSITIVE_INFINITY)
  assertNoneArchived(await firstOf(archive.scan(account, start)), query)
  return buildLivePage(live, query)
}

async function firstOf(records: AsyncIterable<Screenshot>): Promise<Screenshot | undefined> {
  for await (const record of records) return record
  return undefined
}

/** Lists the captures of a kind. */
export async function listCaptures(
  { request, query: given }: Input<object, undefined, ListQuery>,
  kind: CaptureKind,
  deps: ScreenshotsDeps,
) {
  const query: KindQuery = { ...given, subject: kind.subject }
  const read = isLiveOnly(query) ? readLive : readMerged
  const { items, hasMore, nextCursor } = await read(request.accountName, query, deps)
  return {
    success: true,
    data: items.map((screenshot) => readRecord(screenshot, request, deps).record),
    pagination: { limit: query.limit, offset: query.offset, has_more: hasMore, next_cursor: nextCursor },
  }
}
