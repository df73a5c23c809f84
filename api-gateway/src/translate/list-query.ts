import { ImageFormat } from '@tintype/crds/capture-options/image'
import { isScreenshotId } from '@tintype/crds/ids'
import type { WireStatus } from '@tintype/crds/record'
import { invalid, type Problem } from '../errors.ts'
import { unknownName } from './problems.ts'

export const DEFAULT_LIMIT = 100
/** Larger limits are taken as this (AIP-158): they break nobody. */
export const MAX_LIMIT = 500
/** Records that one request looks at, at most: a page may be short and still have a next one (decision 9). */
export const MAX_OFFSET = 10_000

/** Which records of an account, newest first. */
export interface ListQuery {
  limit: number
  offset: number
  /** Id of the last record of the page before. */
  cursor?: string
  statuses?: readonly WireStatus[]
  createdAfter?: Date
  createdBefore?: Date
  url?: string
  format?: ImageFormat
}

const STATUSES: readonly string[] = ['pending', 'completed', 'failed'] satisfies WireStatus[]
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/

type Reader = (text: string) => Partial<ListQuery> | string

const instant =
  (name: 'createdAfter' | 'createdBefore'): Reader =>
  (text) =>
    INSTANT.test(text) && !Number.isNaN(Date.parse(text))
      ? { [name]: new Date(text) }
      : 'must be an instant in ISO 8601, such as 2026-11-21T10:00:00Z'

const READERS: Readonly<Record<string, Reader>> = {
  limit: (text) =>
    /^\d{1,9}$/.test(text) && Number(text) > 0 ? { limit: Math.min(Number(text), MAX_LIMIT) } : 'must be a whole number of at least 1',
  offset: (text) =>
    /^\d{1,9}$/.test(text) && Number(text) <= MAX_OFFSET ? { offset: Number(text) } : `must be a whole number from 0 to ${MAX_OFFSET}`,
  cursor: (text) => (isScreenshotId(text) ? { cursor: text } : 'must be a next_cursor of an earlier page'),
  status: (text) => {
    const statuses = text.split(',')
    return statuses.every((status) => STATUSES.includes(status))
      ? { statuses: statuses as WireStatus[] }
      : `must be a list of ${STATUSES.join(', ')}`
  },
  created_after: instant('createdAfter'),
  created_before: instant('createdBefore'),
  url: (text) => ({ url: text }),
  format: (text) => {
    const format = ImageFormat.safeParse(text)
    return format.success ? { format: format.data } : `must be one of ${ImageFormat.options.join(', ')}`
  },
}

/** Reads one parameter that may stand once; a fault is a sentence about it. */
export function readParameter(name: string, value: unknown, read: Reader, problems: Problem[]): Partial<ListQuery> {
  const result = typeof value === 'string' ? read(value) : 'must be given once'
  if (typeof result !== 'string') return result
  problems.push({ path: name, code: 'invalid_value', message: `${name} ${result}` })
  return {}
}

/** @throws ApiError with every fault at once */
export function parseListQuery(query: Readonly<Record<string, unknown>>): ListQuery {
  const problems: Problem[] = []
  const known = { '': Object.keys(READERS) }
  const parts = Object.entries(query).map(([name, value]) => {
    const read = Object.hasOwn(READERS, name) ? READERS[name] : undefined
    if (read) return readParameter(name, value, read, problems)
    problems.push(unknownName('', name, known))
    return {}
  })
  const parsed: ListQuery = Object.assign({ limit: DEFAULT_LIMIT, offset: 0 }, ...parts)
  if (parsed.cursor !== undefined && parsed.offset > 0)
    problems.push({ path: 'offset', code: 'contradiction', message: 'offset and cursor exclude each other' })
  if (problems.length > 0) throw invalid(problems)
  return parsed
}
