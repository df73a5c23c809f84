import { isScreenshotId } from '@tintype/crds/identifiers/ids'
import { type FileFormat, MovingFormat, StillFormat } from '@tintype/crds/options/output/formats'
import type { WireStatus } from '@tintype/crds/records/record'
import { DAY_OR_TIME } from '@tintype/crds/text/time-text'
import { z } from 'zod'
import type { Problem } from '../../common/errors.ts'
import { listOf, oneOf, type QueryOf, queryParameter, wholeNumber } from '../../http/query.ts'
import { limit } from '../shared/offset-page.ts'
import { screenshotId } from './examples.ts'

// The queries of GET /screenshots and GET /videos.

/** Maximum offset over live and archived records. Larger offsets only work for live records. */
export const MAX_MERGED_OFFSET = 10_000
const MAX_OFFSET = 1_000_000_000

const STATUSES = ['pending', 'completed', 'failed'] as const satisfies WireStatus[]
const COMPLETED_CURSOR = /^\d{14}\.scr_[0-7][0-9a-hjkmnp-tv-z]{25}$/
/** In a query, `+` is a space. Many programs write the `+` of a time zone without encoding it. */
const restorePlus = (text: string): string => text.replace(/ (?=\d{2}:\d{2}$)/, '+')

const instant = (relation: 'after' | 'before') =>
  queryParameter<Date>({
    description: `Only records ${relation} this time (ISO 8601).`,
    schema: z.string().meta({ format: 'date-time' }),
    example: '2026-11-21T10:00:00Z',
    expected: 'a day, or a time with its zone, that exists, such as 2026-11-21T10:00:00Z',
    parse: (query) => {
      const text = restorePlus(query)
      return DAY_OR_TIME.test(text) ? new Date(text) : undefined
    },
  })

/** Any text, which a record must have unchanged. */
const exactText = (description: string, example: string) =>
  queryParameter<string>({ description, schema: z.string(), example, expected: 'a text', parse: (text) => text })

const EXPECTED_CURSOR = 'the next_cursor of an earlier page of the same list'

const commonQuery = {
  limit,
  /** From the previous page: an id, or the time and the id for `completed_at`. */
  cursor: queryParameter<string>({
    description:
      '`next_cursor` of the previous page of the same list. Unlike `offset`, it skips no records when others are created or deleted. Excludes offset.',
    schema: z.string().regex(/^(\d{14}\.)?scr_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
    example: screenshotId,
    expected: EXPECTED_CURSOR,
    parse: (text) => (isScreenshotId(text) || COMPLETED_CURSOR.test(text) ? text : undefined),
  }),
  offset: wholeNumber({
    description: `Records to skip; beyond ${MAX_MERGED_OFFSET} only live ones are counted, and archived ones refused. Default: 0.`,
    example: 0,
    minimum: 0,
    maximum: MAX_OFFSET,
    fallback: 0,
  }),
  sort: oneOf({
    description: 'Time to sort by. Default: created_at.',
    values: ['created_at', 'completed_at'],
    example: 'created_at',
    fallback: 'created_at',
  }),
  order: oneOf({
    description: '`desc` lists the newest first, `asc` the oldest. Default: desc.',
    values: ['desc', 'asc'],
    example: 'desc',
    fallback: 'desc',
  }),
  status: listOf({ description: 'One or more states, separated by commas.', values: STATUSES, example: ['completed'] }),
  created_after: instant('after'),
  created_before: instant('before'),
  url: exactText('Only captures of exactly this URL.', 'https://example.com/'),
  external_identifier: exactText('Only captures with exactly this external_identifier.', 'order-1042'),
}

/** Only captures in one of these formats. */
const formatParameter = <T extends FileFormat>(formats: z.ZodType<T> & { options: readonly T[] }, example: T) =>
  queryParameter<T>({
    description: 'Only captures in this format.',
    schema: formats,
    example,
    expected: `one of ${formats.options.join(', ')}`,
    parse: (text) => formats.safeParse(text).data,
  })

/** Query of GET /screenshots. */
export const listQuery = {
  ...commonQuery,
  batch_id: exactText('Only screenshots of this batch.', 'batch_01kajq2v0vtz8m3c5x7r9w4n6p'),
  format: formatParameter(StillFormat, 'png'),
}
/** Query of GET /videos. A batch has no videos. */
export const videoListQuery = { ...commonQuery, format: formatParameter(MovingFormat, 'mp4') }
export type ListQuery = QueryOf<typeof commonQuery> & { batch_id?: string | undefined; format?: FileFormat | undefined }

/** Checks that involve more than one parameter. */
export function findListQueryProblems({ cursor, offset, sort }: ListQuery): Problem[] {
  if (cursor === undefined) return []
  const isOfSort = isScreenshotId(cursor) === (sort === 'created_at')
  return [
    ...(offset > 0 ? [{ path: 'offset', code: 'contradiction', message: 'offset and cursor exclude each other' } as const] : []),
    ...(isOfSort ? [] : [{ path: 'cursor', code: 'invalid_value', message: `cursor must be ${EXPECTED_CURSOR}` } as const]),
  ]
}
