import { DELIVERY_STATES, type DeliveryState, type LoggedDelivery } from '@tintype/crds/webhooks/delivery-log'
import { invalid } from '../../common/errors.ts'
import { DEFAULT_LIMIT, type Readers, readLimit, readQuery } from '../common/query.ts'

/** Query of the delivery list. */
export interface DeliveryQuery {
  limit: number
  /** `next_cursor` of the previous page. */
  cursor?: string
  states?: readonly DeliveryState[]
}

/** Time of the newest attempt and id. Deliveries are sorted by both. */
export const DELIVERY_CURSOR = /^\d{13}\.dlv_[0-7][0-9a-hjkmnp-tv-z]{25}$/

const isState = (text: string): text is DeliveryState => DELIVERY_STATES.some((state) => state === text)

const READERS: Readers<DeliveryQuery> = {
  limit: readLimit,
  cursor: (text) => (DELIVERY_CURSOR.test(text) ? { cursor: text } : 'must be the next_cursor of an earlier page of the same list'),
  status: (text) => {
    const states = text.split(',')
    return states.every(isState) ? { states } : `must be a list of ${DELIVERY_STATES.join(', ')}`
  },
}

/** All parameters of the list. The OpenAPI document has the same. */
export const DELIVERY_PARAMETERS: readonly string[] = Object.keys(READERS)

/** @throws ApiError VALIDATION_ERROR that lists every problem */
export function parseDeliveryQuery(query: Readonly<Record<string, unknown>>): DeliveryQuery {
  const { parsed, problems } = readQuery<DeliveryQuery>(query, READERS, { limit: DEFAULT_LIMIT })
  if (problems.length > 0) throw invalid(problems)
  return parsed
}

const DIGITS = 13
const cursorOf = ({ id, attempts }: LoggedDelivery): string =>
  `${String(Date.parse(attempts.at(-1)?.at ?? '')).padStart(DIGITS, '0')}.${id}`

/** One page, with the newest attempt first. A new attempt moves its delivery to the front. */
export function toDeliveryPage(all: readonly LoggedDelivery[], { limit, cursor, states }: DeliveryQuery) {
  const wanted = all
    .filter(({ state }) => states === undefined || states.includes(state))
    .map((delivery) => ({ delivery, position: cursorOf(delivery) }))
    .filter(({ position }) => cursor === undefined || position < cursor)
    .sort((a, b) => (a.position < b.position ? 1 : -1))
  const page = wanted.slice(0, limit)
  const hasMore = wanted.length > page.length
  const pagination = { limit, has_more: hasMore, next_cursor: hasMore ? (page.at(-1)?.position ?? null) : null }
  return { items: page.map(({ delivery }) => delivery), pagination }
}
