import type { z } from 'zod'
import { invalid } from '../errors.ts'
import type { CountedPagination } from './fields.ts'
import { DEFAULT_LIMIT, type Readers, readLimit, readQuery } from './read-query.ts'

/** Which of an account's keys or webhooks (spec 4.8). */
export interface OffsetQuery {
  limit: number
  offset: number
  includeInactive: boolean
}

const WHOLE = /^\d{1,9}$/
const SWITCHES: Readonly<Record<string, boolean>> = { true: true, false: false, '1': true, '0': false }

const READERS: Readers<OffsetQuery> = {
  limit: readLimit,
  offset: (text) => (WHOLE.test(text) ? { offset: Number(text) } : 'must be a whole number of at least 0'),
  include_inactive: (text) => {
    const includeInactive = Object.hasOwn(SWITCHES, text) ? SWITCHES[text] : undefined
    return includeInactive === undefined ? 'must be true or false' : { includeInactive }
  },
}

/** @throws ApiError VALIDATION_ERROR that lists every problem */
export function parseOffsetQuery(query: Readonly<Record<string, unknown>>): OffsetQuery {
  const { parsed, problems } = readQuery(query, READERS, { limit: DEFAULT_LIMIT, offset: 0, includeInactive: false })
  if (problems.length > 0) throw invalid(problems)
  return parsed
}

/** One page of a list that is short enough to be counted. */
export function toCountedPage<T>(all: readonly T[], { limit, offset }: OffsetQuery) {
  const items = all.slice(offset, offset + limit)
  const pagination: z.infer<typeof CountedPagination> = {
    limit,
    offset,
    total: all.length,
    has_more: offset + items.length < all.length,
  }
  return { items, pagination }
}
