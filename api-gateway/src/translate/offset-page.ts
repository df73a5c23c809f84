import type { z } from 'zod'
import { invalid, type Problem } from '../errors.ts'
import type { CountedPagination } from './fields.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from './list-query.ts'
import { unknownName } from './problems.ts'

/** Which of an account's keys or webhooks (spec 4.8). */
export interface OffsetQuery {
  limit: number
  offset: number
  includeInactive: boolean
}

const WHOLE = /^\d{1,9}$/
const SWITCHES: Readonly<Record<string, boolean>> = { true: true, false: false, '1': true, '0': false }

type Reader = (text: string) => Partial<OffsetQuery> | string

const READERS: Readonly<Record<string, Reader>> = {
  limit: (text) =>
    WHOLE.test(text) && Number(text) > 0 ? { limit: Math.min(Number(text), MAX_LIMIT) } : 'must be a whole number of at least 1',
  offset: (text) => (WHOLE.test(text) ? { offset: Number(text) } : 'must be a whole number of at least 0'),
  include_inactive: (text) => {
    const includeInactive = Object.hasOwn(SWITCHES, text) ? SWITCHES[text] : undefined
    return includeInactive === undefined ? 'must be true or false' : { includeInactive }
  },
}

/** @throws ApiError with every fault at once */
export function parseOffsetQuery(query: Readonly<Record<string, unknown>>): OffsetQuery {
  const problems: Problem[] = []
  const parts = Object.entries(query).map(([name, value]): Partial<OffsetQuery> => {
    const read = Object.hasOwn(READERS, name) ? READERS[name] : undefined
    if (!read) {
      problems.push(unknownName('', name, { '': Object.keys(READERS) }))
      return {}
    }
    const result = typeof value === 'string' ? read(value) : 'must be given once'
    if (typeof result !== 'string') return result
    problems.push({ path: name, code: 'invalid_value', message: `${name} ${result}` })
    return {}
  })
  if (problems.length > 0) throw invalid(problems)
  return Object.assign({ limit: DEFAULT_LIMIT, offset: 0, includeInactive: false }, ...parts)
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
