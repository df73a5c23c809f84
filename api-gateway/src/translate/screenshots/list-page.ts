import { createdAtOf, newId, screenshotIdOf } from '@tintype/crds/ids'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { toWireStatus } from '@tintype/crds/record'
import { invalid } from '../../errors.ts'
import { type ListQuery, MAX_MERGED_OFFSET } from './list-query.ts'

/** Records that one request looks at, at most: a page may be short and have a next one all the same. */
export const MAX_SCANNED = 10_000

export interface ListPage {
  items: Screenshot[]
  hasMore: boolean
  /** Names the last record looked at. */
  nextCursor: string | null
}

const GREATEST_TAIL = Buffer.alloc(10, 0xff)
const LEAST_TAIL = Buffer.alloc(10)

const idOf = ({ metadata }: Screenshot): string => screenshotIdOf(metadata)
const createdAt = (screenshot: Screenshot): Date => createdAtOf(idOf(screenshot))

type Range = Pick<ListQuery, 'order' | 'cursor' | 'createdAfter' | 'createdBefore'>

// An id carries no instant before 1970.
const idAt = (instant: Date, tail: Uint8Array): string => newId('scr', new Date(Math.max(0, instant.getTime())), tail)

/** The id beyond which a scan begins: the cursor's, or that of the instant beyond which records are wanted. An id grows as its record gets older. */
export function startOf({ order, cursor, createdAfter, createdBefore }: Range): string | undefined {
  const instant = order === 'asc' ? createdAfter : createdBefore
  if (instant === undefined) return cursor
  const bound = idAt(instant, order === 'asc' ? LEAST_TAIL : GREATEST_TAIL)
  return cursor === undefined || isBeyond(bound, cursor, order) ? bound : cursor
}

/** Whether an id comes after another in a list. */
const isBeyond = (id: string, other: string, order: ListQuery['order']): boolean => (order === 'asc' ? id < other : id > other)

/** Live records, which come newest first, as a list in another order has them. */
export const sortLive = (live: readonly Screenshot[], start: string | undefined, { order }: Pick<ListQuery, 'order'>): Screenshot[] =>
  (order === 'asc' ? live.toReversed() : [...live]).filter((screenshot) => start === undefined || isBeyond(idOf(screenshot), start, order))

/** How many records a request may look at. */
export const scanLimitOf = ({ offset }: Pick<ListQuery, 'offset'>): number => MAX_SCANNED + offset

function matches(screenshot: Screenshot, { statuses, url, format, batchId, externalIdentifier }: ListQuery): boolean {
  const { spec, status } = screenshot
  return (
    (statuses === undefined || statuses.includes(toWireStatus(status?.phase))) &&
    (url === undefined || spec.url === url) &&
    (format === undefined || (spec.options?.format ?? 'png') === format) &&
    (batchId === undefined || spec.batchId === batchId) &&
    (externalIdentifier === undefined || spec.externalIdentifier === externalIdentifier)
  )
}

const isTooOld = (screenshot: Screenshot, { createdAfter }: { createdAfter?: Date | undefined }): boolean =>
  createdAfter !== undefined && createdAt(screenshot) <= createdAfter

/** True for what comes behind the range that is asked for. */
const isBeyondRange = (screenshot: Screenshot, { order, createdAfter, createdBefore }: Range): boolean =>
  order === 'asc' ? createdBefore !== undefined && createdAt(screenshot) >= createdBefore : isTooOld(screenshot, { createdAfter })

/** One page of records that come in the query's order from {@link startOf} on: scans until it has one more than wanted, so that `hasMore` is exact. */
export async function buildListPage(records: AsyncIterable<Screenshot>, query: ListQuery): Promise<ListPage> {
  const items: Screenshot[] = []
  let skip = query.offset
  let left = scanLimitOf(query)
  let cursor = query.cursor
  for await (const screenshot of records) {
    if (isBeyondRange(screenshot, query)) break
    if (left-- === 0) return { items, hasMore: true, nextCursor: cursor ?? null }
    if (matches(screenshot, query) && skip-- <= 0) {
      if (items.length === query.limit) return { items, hasMore: true, nextCursor: cursor ?? null }
      items.push(screenshot)
    }
    cursor = idOf(screenshot)
  }
  return { items, hasMore: false, nextCursor: null }
}

/** True for a query that only the live records of an account can answer: the archive lies in the order of creation. */
export const isLiveOnly = ({ sort, offset }: ListQuery): boolean => sort === 'completed_at' || offset > MAX_MERGED_OFFSET

/** Refuses a query of live records whose range holds archived ones; `newest` is the newest of those. @throws ApiError */
export function assertNoneArchived(newest: Screenshot | undefined, query: ListQuery): void {
  if (newest === undefined || isTooOld(newest, query)) return
  const path = query.sort === 'completed_at' ? 'sort' : 'offset'
  const what = path === 'offset' ? `an offset beyond ${MAX_MERGED_OFFSET}` : 'sort=completed_at'
  const bound = createdAt(newest).toISOString()
  const message = `${what} covers live records only, and some of this range are archived: add created_after=${bound}, or page with a cursor`
  throw invalid([{ path, code: 'archived', message }])
}

/** What has not ended yet comes after all that has. */
const NEVER = '99999999999999'

function sortKeyOf(screenshot: Screenshot, sort: ListQuery['sort']): string {
  if (sort === 'created_at') return idOf(screenshot)
  const { completionTime } = screenshot.status ?? {}
  const milliseconds = isFinished(screenshot) && completionTime !== undefined ? Date.parse(completionTime) : Number(NEVER)
  return `${String(milliseconds).padStart(NEVER.length, '0')}.${idOf(screenshot)}`
}

/** One page of live records alone, which come newest first, in any order that can be asked for. */
export function buildLivePage(live: readonly Screenshot[], query: ListQuery): ListPage {
  const { sort, order, cursor, offset, limit } = query
  // An id grows as its record gets older, a time of completion as it gets younger.
  const direction = (sort === 'created_at') === (order === 'desc') ? 1 : -1
  const keyed = live
    .filter((screenshot) => !isTooOld(screenshot, query) && matches(screenshot, query))
    .map((screenshot) => ({ key: sortKeyOf(screenshot, sort), screenshot }))
    .sort((a, b) => (a.key < b.key ? -direction : direction))
  const beyond = cursor === undefined ? keyed : keyed.filter(({ key }) => (direction === 1 ? key > cursor : key < cursor))
  const page = beyond.slice(offset, offset + limit)
  const hasMore = beyond.length > offset + limit
  return {
    items: page.map(({ screenshot }) => screenshot),
    hasMore,
    nextCursor: hasMore ? (page.at(-1)?.key ?? null) : null,
  }
}

/**
 * Live and archived records, both in the same order, as one sequence, each once; a live one is the fresher of two.
 * `live` must have been read whole before anything of `archived` is: a record is written to the archive before it leaves the Kubernetes API,
 * so in this order it is seen at least once wherever it is on its way.
 */
export async function* mergeRecords(
  live: readonly Screenshot[],
  archived: AsyncIterable<Screenshot>,
  order: ListQuery['order'],
): AsyncGenerator<Screenshot> {
  const isBefore = (id: string, other: string) => (order === 'asc' ? id > other : id < other)
  let at = 0
  for await (const next of archived) {
    const id = idOf(next)
    while (at < live.length && isBefore(idOf(live[at]!), id)) yield live[at++]!
    if (at < live.length && idOf(live[at]!) === id) yield live[at++]!
    else yield next
  }
  while (at < live.length) yield live[at++]!
}
