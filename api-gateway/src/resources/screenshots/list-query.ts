import { isScreenshotId } from '@tintype/crds/identifiers/ids'
import { FileFormat } from '@tintype/crds/options/output/image'
import type { WireStatus } from '@tintype/crds/records/record'
import { invalid } from '../../common/errors.ts'
import { DEFAULT_LIMIT, type Reader as QueryReader, type Readers, readLimit, readQuery } from '../../translate/common/query.ts'

/** Maximum offset over live and archived records. Larger offsets only work for live records. */
export const MAX_MERGED_OFFSET = 10_000
export const MAX_OFFSET = 1_000_000_000

/** Query of the screenshot list. */
export interface ListQuery {
  limit: number
  offset: number
  sort: 'created_at' | 'completed_at'
  /** desc: newest first. */
  order: 'desc' | 'asc'
  /** From the previous page: an id, or the time and the id for `completed_at`. */
  cursor?: string | undefined
  statuses?: readonly WireStatus[]
  createdAfter?: Date
  createdBefore?: Date
  url?: string
  format?: FileFormat
  batchId?: string
  externalIdentifier?: string
}

const STATUSES: readonly string[] = ['pending', 'completed', 'failed'] satisfies WireStatus[]
const COMPLETED_CURSOR = /^\d{14}\.scr_[0-7][0-9a-hjkmnp-tv-z]{25}$/
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/

type Reader = QueryReader<ListQuery>

const instant =
  (name: 'createdAfter' | 'createdBefore'): Reader =>
  (text) =>
    INSTANT.test(text) && !Number.isNaN(Date.parse(text))
      ? { [name]: new Date(text) }
      : 'must be a time in ISO 8601, such as 2026-11-21T10:00:00Z'

const oneOf =
  <Name extends 'sort' | 'order'>(name: Name, values: readonly ListQuery[Name][]): Reader =>
  (text) =>
    values.some((value) => value === text) ? { [name]: text } : `must be ${values.join(' or ')}`

const CURSOR_PROBLEM = 'must be the next_cursor of an earlier page of the same list'

const READERS: Readers<ListQuery> = {
  limit: readLimit,
  offset: (text) =>
    /^\d{1,10}$/.test(text) && Number(text) <= MAX_OFFSET ? { offset: Number(text) } : `must be a whole number from 0 to ${MAX_OFFSET}`,
  cursor: (text) => (isScreenshotId(text) || COMPLETED_CURSOR.test(text) ? { cursor: text } : CURSOR_PROBLEM),
  sort: oneOf('sort', ['created_at', 'completed_at']),
  order: oneOf('order', ['desc', 'asc']),
  status: (text) => {
    const statuses = text.split(',')
    return statuses.every((status) => STATUSES.includes(status))
      ? { statuses: statuses as WireStatus[] }
      : `must be a list of ${STATUSES.join(', ')}`
  },
  created_after: instant('createdAfter'),
  created_before: instant('createdBefore'),
  url: (text) => ({ url: text }),
  batch_id: (text) => ({ batchId: text }),
  external_identifier: (text) => ({ externalIdentifier: text }),
  format: (text) => {
    const format = FileFormat.safeParse(text)
    return format.success ? { format: format.data } : `must be one of ${FileFormat.options.join(', ')}`
  },
}

/** All parameters of the list. The OpenAPI document has the same. */
export const LIST_PARAMETERS: readonly string[] = Object.keys(READERS)

/** @throws ApiError VALIDATION_ERROR that lists every problem */
export function parseListQuery(query: Readonly<Record<string, unknown>>): ListQuery {
  const defaults: ListQuery = { limit: DEFAULT_LIMIT, offset: 0, sort: 'created_at', order: 'desc' }
  const { parsed, problems } = readQuery(query, READERS, defaults)
  if (parsed.cursor !== undefined && parsed.offset > 0)
    problems.push({ path: 'offset', code: 'contradiction', message: 'offset and cursor exclude each other' })
  if (parsed.cursor !== undefined && isScreenshotId(parsed.cursor) !== (parsed.sort === 'created_at'))
    problems.push({ path: 'cursor', code: 'invalid_value', message: `cursor ${CURSOR_PROBLEM}` })
  if (problems.length > 0) throw invalid(problems)
  return parsed
}
