import type { z } from 'zod'
import { invalid, type Problem } from '../../errors.ts'
import type { CountedPagination } from './fields.ts'
import { unknownName } from './problems.ts'

// Query parameters of the lists. Each stands once at most, and is read by a function of its own.

export const DEFAULT_LIMIT = 100
/** Larger limits are taken as this (AIP-158): they break nobody. */
export const MAX_LIMIT = 500

/** Reads one parameter: what it says, or a sentence about its fault that its name begins. */
export type Reader<Query> = (text: string) => Partial<Query> | string

/** Readers by the parameters' names. */
export type Readers<Query> = Readonly<Record<string, Reader<Query>>>

const WHOLE = /^\d{1,9}$/

/** `limit`, as every list takes it. */
export const readLimit: Reader<{ limit: number }> = (text) =>
  WHOLE.test(text) && Number(text) > 0 ? { limit: Math.min(Number(text), MAX_LIMIT) } : 'must be a whole number of at least 1'

/** What a query says, on top of `defaults`, and all that is wrong with it. */
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

/** Which of an account's keys or webhooks (spec 4.8). */
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

/** A route without parameters refuses all. @throws ApiError VALIDATION_ERROR that lists every problem */
export function assertNoQuery(query: Readonly<Record<string, unknown>>): void {
  const problems = Object.keys(query).map((name) => unknownName('', name, { '': [] }))
  if (problems.length > 0) throw invalid(problems)
}
