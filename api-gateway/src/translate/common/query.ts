import type { z } from 'zod'
import { invalid, type Problem } from '../../common/errors.ts'
import { unknownName } from '../../http/problems.ts'
import type { CountedPagination } from '../../resources/shared/offset-page.ts'

// Query parameters of lists. Each parameter can be given once and has its own reader.

export const DEFAULT_LIMIT = 100
/** Larger limits are reduced to this value (AIP-158). */
export const MAX_LIMIT = 500

/** Parses one parameter. Returns the parsed fields, or an error message that starts after the parameter's name. */
export type Reader<Query> = (text: string) => Partial<Query> | string

/** Readers by parameter name. */
export type Readers<Query> = Readonly<Record<string, Reader<Query>>>

const WHOLE = /^\d{1,9}$/

/** Reads `limit`, the same for every list. */
export const readLimit: Reader<{ limit: number }> = (text) =>
  WHOLE.test(text) && Number(text) > 0 ? { limit: Math.min(Number(text), MAX_LIMIT) } : 'must be a whole number of at least 1'

/** Parses a query over `defaults`, and returns all problems. */
export function readQuery<Query extends object>(
  query: Readonly<Record<string, unknown>>,
  readers: Readers<Query>,
  defaults: Query,
): { parsed: Query; problems: Problem[] } {
  const problems: Problem[] = []
  const parts = Object.entries(query).map(([name, value]): Partial<Query> => {
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined
    if (!read) {
      problems.push(unknownName('', name, { '': Object.keys(readers) }))
      return {}
    }
    const result = typeof value === 'string' ? read(value) : 'must be given once'
    if (typeof result !== 'string') return result
    problems.push({ path: name, code: 'invalid_value', message: `${name} ${result}` })
    return {}
  })
  return { parsed: Object.assign({}, defaults, ...parts) as Query, problems }
}

/** Query of the key and webhook lists. */
export interface OffsetQuery {
  limit: number
  offset: number
  includeInactive: boolean
}

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

/** One page of a list, with the total count. */
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

/** Rejects query parameters on routes without any. @throws ApiError VALIDATION_ERROR that lists every problem */
export function assertNoQuery(query: Readonly<Record<string, unknown>>): void {
  const problems = Object.keys(query).map((name) => unknownName('', name, { '': [] }))
  if (problems.length > 0) throw invalid(problems)
}
