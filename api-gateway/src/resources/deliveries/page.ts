import { isScreenshotId } from '@tintype/crds/identifiers/ids'
import { anId } from '@tintype/crds/schema/fields'
import { DELIVERY_STATES, type LoggedDelivery } from '@tintype/crds/webhooks/deliveries'
import { z } from 'zod'
import { listOf, type QueryOf, queryParameter } from '../../http/query.ts'
import { limit } from '../shared/offset-page.ts'

/** Time of the newest attempt and id. Deliveries are sorted by both. */
const CURSOR = /^\d{13}\.dlv_[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** Query of the delivery list. */
export const deliveryQuery = {
  limit,
  cursor: queryParameter<string>({
    description: '`next_cursor` of the previous page.',
    schema: z.string().regex(CURSOR),
    example: '1795255202004.dlv_01kajq2v0vtz8m3c5x7r9w4n6p',
    expected: 'the next_cursor of an earlier page of the same list',
    parse: (text) => (CURSOR.test(text) ? text : undefined),
  }),
  status: listOf({ description: 'One or more states, separated by commas.', example: ['failed'], values: DELIVERY_STATES }),
  screenshot_id: queryParameter<string>({
    description: 'Only deliveries of events of this screenshot.',
    schema: anId('scr', 'Id of a screenshot.'),
    example: 'scr_7yztsh6vzw7j4q0n9x2c5d8e1f',
    expected: 'the id of a screenshot',
    parse: (text) => (isScreenshotId(text) ? text : undefined),
  }),
}
export type DeliveryQuery = QueryOf<typeof deliveryQuery>

const DIGITS = 13
const cursorOf = ({ id, attempts }: LoggedDelivery): string =>
  `${String(Date.parse(attempts.at(-1)?.at ?? '')).padStart(DIGITS, '0')}.${id}`

/** One page, with the newest attempt first. A new attempt moves its delivery to the front. */
export function toDeliveryPage(all: readonly LoggedDelivery[], { limit: size, cursor, status, screenshot_id: screenshot }: DeliveryQuery) {
  const wanted = all
    .filter(({ state }) => status === undefined || status.includes(state))
    .filter(({ attempts }) => screenshot === undefined || attempts[0]?.screenshot === screenshot)
    .map((delivery) => ({ delivery, position: cursorOf(delivery) }))
    .filter(({ position }) => cursor === undefined || position < cursor)
    .sort((a, b) => (a.position < b.position ? 1 : -1))
  const page = wanted.slice(0, size)
  const hasMore = wanted.length > page.length
  const pagination = { limit: size, has_more: hasMore, next_cursor: hasMore ? (page.at(-1)?.position ?? null) : null }
  return { items: page.map(({ delivery }) => delivery), pagination }
}
