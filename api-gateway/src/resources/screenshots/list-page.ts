import { createdAtOf, newId, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { toWireStatus } from '@tintype/crds/records/record'
import type { EventSubject } from '@tintype/crds/schema/event-types'
import { eventSubjectOf } from '@tintype/crds/webhooks/events'
import { invalid } from '../../common/errors.ts'
import { type ListQuery, MAX_MERGED_OFFSET } from './list-query.ts'

/** Maximum records that one request scans. A page can therefore be short and still have a next page. */
export const MAX_SCANNED = 10_000

export interface ListPage {
  items: Screenshot[]
  hasMore: boolean
  /** Refers to the last scanned record. */
  nextCursor: string | null
}

/** A query for the captures of one kind. */
export interface KindQuery extends ListQuery {
  subject: EventSubject
}

const GREATEST_TAIL = Buffer.alloc(10, 0xff)
const LEAST_TAIL = Buffer.alloc(10)

const idOf = ({ metadata }: Screenshot): string => screenshotIdOf(metadata)
const createdAt = (screenshot: Screenshot): Date => createdAtOf(idOf(screenshot))

type Range = Pick<ListQuery, 'order' | 'cursor' | 'created_after' | 'created_before'>

// Ids cannot contain times before 1970.
const idAt = (instant: Date, tail: Uint8Array): string => newId('scr', new Date(Math.max(0, instant.getTime())), tail)

/** The id after which a scan starts: from the cursor or from the requested time. Ids of older records are greater. */
export function startOf({ order, cursor, created_after, created_before }: Range): string | undefined {
  const instant = order === 'asc' ? created_after : created_before
  if (instant === undefined) return cursor
  const bound = idAt(instant, order === 'asc' ? LEAST_TAIL : GREATEST_TAIL)
  return cursor === undefined || isBeyond(bound, cursor, order) ? bound : cursor
}

/** True when an id comes after another in a list. */
const isBeyond = (id: string, other: string, order: ListQuery['order']): boolean => (order === 'asc' ? id < other : id > other)

/** Sorts live records, which are given newest first, in the order of the list. */
export const sortLive = (live: readonly Screenshot[], start: string | undefined, { order }: Pick<ListQuery, 'order'>): Screenshot[] =>
  (order === 'asc' ? live.toReversed() : [...live]).filter((screenshot) => start === undefined || isBeyond(idOf(screenshot), start, order))

/** Maximum records that a request scans. */
export const scanLimitOf = ({ offset }: Pick<ListQuery, 'offset'>): number => MAX_SCANNED + offset

function matches(screenshot: Screenshot, { subject, status: statuses, url, format, batch_id, external_identifier }: KindQuery): boolean {
  const { spec, status } = screenshot
  return (
    eventSubjectOf(screenshot) === subject &&
    (statuses === undefined || statuses.includes(toWireStatus(status?.phase))) &&
    (url === undefined || spec.url === url) &&
    (format === undefined || (spec.options?.format ?? 'png') === format) &&
    (batch_id === undefined || spec.batchId === batch_id) &&
    (external_identifier === undefined || spec.externalIdentifier === external_identifier)
  )
}

const isTooOld = (screenshot: Screenshot, { created_after }: { created_after?: Date | undefined }): boolean =>
  created_after !== undefined && createdAt(screenshot) <= created_after

/** True for records after the end of the requested range. */
const isBeyondRange = (screenshot: Screenshot, { order, created_after, created_before }: Range): boolean =>
  order === 'asc' ? created_before !== undefined && createdAt(screenshot) >= created_before : isTooOld(screenshot, { created_after })

/** One page of records, which are given in the query's order from {@link startOf} on. Scans one more than needed, so that `hasMore` is exact. */
export async function buildListPage(records: AsyncIterable<Screenshot>, query: KindQuery): Promise<ListPage> {
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

/** True for a query that only works for live records, because the archive is sorted by creation time. */
export const isLiveOnly = ({ sort, offset }: ListQuery): boolean => sort === 'completed_at' || offset > MAX_MERGED_OFFSET

/** Rejects a query for live records if its range contains archived ones. @param newest newest archived record @throws ApiError */
export function assertNoneArchived(newest: Screenshot | undefined, query: ListQuery): void {
  if (newest === undefined || isTooOld(newest, query)) return
  const path = query.sort === 'completed_at' ? 'sort' : 'offset'
  const [what, instead] =
    path === 'offset' ? [`an offset above ${MAX_MERGED_OFFSET}`, 'use cursor'] : ['sort=completed_at', 'sort by created_at']
  const bound = createdAt(newest).toISOString()
  const message = `${what} does not work for records in the archive, and this range contains some: add created_after=${bound}, or ${instead}`
  throw invalid([{ path, code: 'archived', message }])
}

/** Sort key of unfinished screenshots, which come last. */
const NEVER = '99999999999999'

function sortKeyOf(screenshot: Screenshot, sort: ListQuery['sort']): string {
  if (sort === 'created_at') return idOf(screenshot)
  const { completionTime } = screenshot.status ?? {}
  const milliseconds = isFinished(screenshot) && completionTime !== undefined ? Date.parse(completionTime) : Number(NEVER)
  return `${String(milliseconds).padStart(NEVER.length, '0')}.${idOf(screenshot)}`
}

/** One page of only live records, in any order. */
export function buildLivePage(live: readonly Screenshot[], query: KindQuery): ListPage {
  const { sort, order, cursor, offset, limit } = query
  // Ids are greater for older records, and completion times for newer ones.
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
 * Merges live and archived records without duplicates. Both are in the same order, and a live record takes precedence. `live` must be read
 * completely before `archived`: archiving writes a record to the bucket before it deletes the object, so no record is missed.
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
