import { DELIVERY_STATES } from '@tintype/crds/webhooks/delivery-log'
import { z } from 'zod'
import { anId } from '../../http/fields.ts'
import type { Parameter } from '../../http/route.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../translate/common/query.ts'
import { DELIVERY_CURSOR } from '../../translate/webhooks/delivery-query.ts'

export { ifMatch, ifNoneMatch, pathId } from '../../http/parameters.ts'

/** Largest accepted `limit`. Values above the maximum are reduced to it. */
const MAX_LIMIT_TEXT = 999_999_999

export const deliveryPath = (example: string): Parameter => ({
  name: 'delivery',
  in: 'path',
  required: true,
  description: 'Id of the delivery, as in the header X-Webhook-Delivery of its posts.',
  schema: anId('dlv', 'An id with the prefix dlv_.'),
  example,
})

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

export const includeInactive: Parameter = {
  name: 'include_inactive',
  in: 'query',
  description: 'Includes inactive records. Default: false.',
  schema: z.enum(['true', 'false', '1', '0']),
  example: 'true',
}

/** Parameters of GET /webhooks/{id}/deliveries. A test compares the names with the parser. */
export const deliveryParameters: readonly Parameter[] = [
  limit,
  {
    name: 'cursor',
    in: 'query',
    description: '`next_cursor` of the previous page.',
    schema: z.string().regex(DELIVERY_CURSOR),
    example: '1795255202004.dlv_01kajq2v0vtz8m3c5x7r9w4n6p',
  },
  {
    name: 'status',
    in: 'query',
    description: 'One or more states, separated by commas.',
    schema: z.array(z.enum(DELIVERY_STATES)).min(1),
    explode: false,
    example: ['failed'],
  },
]
