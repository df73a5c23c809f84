import { DELIVERY_STATES, type DeliveryState, type LoggedDelivery } from '@tintype/crds/delivery-log'
import { invalid } from '../../errors.ts'
import { DEFAULT_LIMIT, type Readers, readLimit, readQuery } from '../common/query.ts'

/** Which of an endpoint's deliveries. */
export interface DeliveryQuery {
  limit: number
  /** What the page before gave. */
  cursor?: string
  states?: readonly DeliveryState[]
}

/** The newest attempt's instant and the id: deliveries are listed by both. */
export const DELIVERY_CURSOR = /^\d{13}\.dlv_[0-7][0-9a-hjkmnp-tv-z]{25}$/

const isState = (text: string): text is DeliveryState => DELIVERY_STATES.some((state) => state === text)

const READERS: Readers<DeliveryQuery> = {
  limit: readLimit,
  cursor: (text) => (DELIVERY_CURSOR.test(text) ? { cursor: text } : 'must be a next_cursor of an earlier page of the same list'),
  status: (text) => {
    const states = text.split(',')
    return states.every(isState) ? { states } : `must be a list of ${DELIVERY_STATES.join(', ')}`
  },
}

/** Every parameter of the list; the OpenAPI document has the same. */
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

/** One page, the delivery with the newest attempt first. A delivery that is attempted again moves to the front. */
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
