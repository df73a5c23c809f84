import { z } from 'zod'
import { type QueryOf, type QueryParameter, queryParameter, wholeNumber } from '../../http/query.ts'

// Lists with a limit, an offset and a total count.

const DEFAULT_LIMIT = 100
/** Larger limits are reduced to this value (AIP-158). */
const MAX_LIMIT = 500
/** Largest accepted `limit` and `offset`. */
const MAX_WHOLE = 999_999_999

const anyLimit = wholeNumber({
  description: `Records per page. Values above ${MAX_LIMIT} are reduced to ${MAX_LIMIT}. Default: ${DEFAULT_LIMIT}.`,
  example: 50,
  minimum: 1,
  maximum: MAX_WHOLE,
  expected: 'a whole number of at least 1',
  fallback: DEFAULT_LIMIT,
})

/** Records per page, the same for every list. */
export const limit: QueryParameter<number> = {
  ...anyLimit,
  parse: (text) => {
    const wanted = anyLimit.parse(text)
    return wanted === undefined ? undefined : Math.min(wanted, MAX_LIMIT)
  },
}

const offset = wholeNumber({
  description: 'Records to skip. Default: 0.',
  example: 0,
  minimum: 0,
  maximum: MAX_WHOLE,
  expected: 'a whole number of at least 0',
  fallback: 0,
})

const SWITCHES: Readonly<Record<string, boolean>> = { true: true, false: false, '1': true, '0': false }

const includeInactive = queryParameter<boolean>({
  description: 'Includes inactive records. Default: false.',
  schema: z.enum(['true', 'false', '1', '0']),
  example: 'true',
  expected: 'true or false',
  fallback: false,
  parse: (text) => (Object.hasOwn(SWITCHES, text) ? SWITCHES[text] : undefined),
})

/** Query of the key and webhook lists. */
export const offsetQuery = { include_inactive: includeInactive, limit, offset }
export type OffsetQuery = QueryOf<typeof offsetQuery>

/** Pagination of a list with a total count. */
export const CountedPagination = z.object({
  limit: z.int().min(1),
  offset: z.int().min(0),
  total: z.int().min(0).describe('Total number of records.'),
  has_more: z.boolean(),
})

/** The response with one page of a list, and the total count. */
export function toCountedList<T, R>(
  all: readonly T[],
  { limit: size, offset: start }: Pick<OffsetQuery, 'limit' | 'offset'>,
  toRecord: (item: T) => R,
) {
  const items = all.slice(start, start + size)
  const pagination: z.infer<typeof CountedPagination> = {
    limit: size,
    offset: start,
    total: all.length,
    has_more: start + items.length < all.length,
  }
  return { success: true, data: items.map(toRecord), pagination }
}
