import { FileFormat } from '@tintype/crds/options/output/image'
import { z } from 'zod'
import type { Parameter } from '../../http/route.ts'
import { MAX_MERGED_OFFSET, MAX_OFFSET } from '../../resources/screenshots/list-query.ts'
import { MAX_WAIT_SECONDS } from '../../resources/screenshots/response-plan.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../translate/common/query.ts'

export { ifMatch, ifNoneMatch, pathId } from '../../http/parameters.ts'

/** Largest accepted `limit`. Values above the maximum are reduced to it. */
const MAX_LIMIT_TEXT = 999_999_999

export const wait: Parameter = {
  name: 'wait',
  in: 'query',
  description: 'Maximum seconds to hold the request until the capture has finished.',
  schema: z.int().min(1).max(MAX_WAIT_SECONDS),
  example: 10,
}

export const limit: Parameter = {
  name: 'limit',
  in: 'query',
  description: `Records per page. Values above ${MAX_LIMIT} are reduced to ${MAX_LIMIT}. Default: ${DEFAULT_LIMIT}.`,
  schema: z.int().min(1).max(MAX_LIMIT_TEXT),
  example: 50,
}

export const offset = (most = MAX_LIMIT_TEXT): Parameter => ({
  name: 'offset',
  in: 'query',
  description: 'Records to skip. Default: 0.',
  schema: z.int().min(0).max(most),
  example: 0,
})

const instant = (name: string, what: string): Parameter => ({
  name,
  in: 'query',
  description: `Only records ${what} this time (ISO 8601).`,
  schema: z.string().meta({ format: 'date-time' }),
  example: '2026-11-21T10:00:00Z',
})

/** Parameters of GET /screenshots. A test compares the names with the parser. */
export const listParameters: readonly Parameter[] = [
  limit,
  {
    name: 'cursor',
    in: 'query',
    description:
      '`next_cursor` of the previous page of the same list. Unlike `offset`, it skips no records when others are created or deleted. Excludes offset.',
    schema: z.string().regex(/^(\d{14}\.)?scr_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
    example: 'scr_7yztsh6vzw7j4q0n9x2c5d8e1f',
  },
  {
    ...offset(MAX_OFFSET),
    description: `Records to skip; beyond ${MAX_MERGED_OFFSET} only live ones are counted, and archived ones refused. Default: 0.`,
  },
  {
    name: 'sort',
    in: 'query',
    description: 'Time to sort by. Default: created_at.',
    schema: z.enum(['created_at', 'completed_at']),
    example: 'created_at',
  },
  {
    name: 'order',
    in: 'query',
    description: '`desc` lists the newest first, `asc` the oldest. Default: desc.',
    schema: z.enum(['desc', 'asc']),
    example: 'desc',
  },
  {
    name: 'status',
    in: 'query',
    description: 'One or more states, separated by commas.',
    schema: z.array(z.enum(['pending', 'completed', 'failed'])).min(1),
    explode: false,
    example: ['completed'],
  },
  instant('created_after', 'after'),
  instant('created_before', 'before'),
  { name: 'url', in: 'query', description: 'Only screenshots of exactly this URL.', schema: z.string(), example: 'https://example.com/' },
  {
    name: 'batch_id',
    in: 'query',
    description: 'Only screenshots of this batch.',
    schema: z.string(),
    example: 'batch_01kajq2v0vtz8m3c5x7r9w4n6p',
  },
  {
    name: 'external_identifier',
    in: 'query',
    description: 'Only screenshots with exactly this external_identifier.',
    schema: z.string(),
    example: 'order-1042',
  },
  { name: 'format', in: 'query', description: 'Only screenshots in this format.', schema: FileFormat, example: 'png' },
]
