import { type Collection, NOUNS } from '../api/client.ts'
import { formatNumber } from '../format/text.ts'

// What a list of captures shows: how a new page changes it, which part of it is drawn, and the line below it.

/** Fields of a record that decide about its place in a list. */
interface Listed {
  id: string
  status: string
}

/** How a list changes when its first page is read again. */
interface MergedList<T> {
  items: readonly T[]
  /** The page does not overlap the list, so everything after it must be read again. */
  isReset: boolean
  /** No record of the list follows the page, so the next page follows it too. */
  endsWithPage: boolean
}

/**
 * Merges the newest page into a list. Both are sorted with the newest first. The page decides about its range: records of the list that it lacks were
 * deleted, and records that only it has are new. A batch appears in parts, so new records can also be between known ones.
 * @param isWhole the page is the whole list, because no other page follows
 */
export function mergeNewest<T extends Listed>(known: readonly T[], page: readonly T[], isWhole: boolean): MergedList<T> {
  const places = new Map(known.map(({ id }, index) => [id, index]))
  const last = isWhole ? undefined : page.findLast(({ id }) => places.has(id))
  if (!last) return { items: page, isReset: known.length === 0 || !isWhole, endsWithPage: true }
  const ids = new Set(page.map(({ id }) => id))
  const rest = known.slice((places.get(last.id) ?? 0) + 1).filter(({ id }) => !ids.has(id))
  return { items: [...page, ...rest], isReset: false, endsWithPage: rest.length === 0 }
}

/** Replaces records by newer versions. Undefined removes a record. */
export function replaceRecords<T extends Listed>(known: readonly T[], changes: ReadonlyMap<string, T | undefined>): readonly T[] {
  if (changes.size === 0) return known
  return known.flatMap((item) => {
    const changed = changes.has(item.id) ? changes.get(item.id) : item
    return changed ? [changed] : []
  })
}

/** Replaces records that have not changed by those of the list, so that their cards are not drawn again. */
export function keepSame<T extends Listed>(known: readonly T[], page: readonly T[]): readonly T[] {
  const byId = new Map(known.map((item) => [item.id, item]))
  return page.map((item) => {
    const before = byId.get(item.id)
    return before && JSON.stringify(before) === JSON.stringify(item) ? before : item
  })
}

/** Parts a list at the first record that is shown already. Those before it wait. */
export function splitWaiting<T extends Listed>(all: readonly T[], shown: readonly T[]): { waiting: readonly T[]; items: readonly T[] } {
  const ids = new Set(shown.map(({ id }) => id))
  const first = Math.max(
    0,
    all.findIndex(({ id }) => ids.has(id)),
  )
  return { waiting: all.slice(0, first), items: all.slice(first) }
}

interface Viewport {
  /** Pixels of the list above the upper edge of the window. */
  above: number
  /** Height of the window. */
  height: number
  columns: number
  rowHeight: number
  count: number
}

/** The part of a grid to draw, and the heights of the parts before and after it. */
export interface VisibleRange {
  start: number
  end: number
  before: number
  after: number
}

/** Rows that are drawn beyond the window, so that the keyboard and fast scrolling find them. */
const EXTRA_ROWS = 3

/** Finds the items to draw, so that a list of thousands costs as much as a screen full of them. */
export function toVisibleRange({ above, height, columns, rowHeight, count }: Viewport): VisibleRange {
  const rows = Math.ceil(count / columns)
  const first = Math.min(Math.max(0, Math.floor(above / rowHeight) - EXTRA_ROWS), Math.max(0, rows - 1))
  const last = Math.min(rows, Math.ceil((above + height) / rowHeight) + EXTRA_ROWS)
  const end = Math.max(first, last)
  return {
    start: first * columns,
    end: Math.min(count, end * columns),
    before: first * rowHeight,
    after: Math.max(0, rows - end) * rowHeight,
  }
}

interface ListState {
  isLoading: boolean
  hasMore: boolean
  isFiltered: boolean
}

/** The line below a list: how many captures it has, or why it has none. */
export function describeEnd(count: number, collection: Collection, { isLoading, hasMore, isFiltered }: ListState): string {
  if (isLoading || hasMore) return 'Loading…'
  const { one, many } = NOUNS[collection]
  if (count > 0) return count === 1 ? `One ${one}` : `${formatNumber(count)} ${many}`
  return isFiltered ? `No ${one} matches the filters.` : `No ${many} yet. The playground makes the first one.`
}
