import type { Problem } from '../errors.ts'
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
