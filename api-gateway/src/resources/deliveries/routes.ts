import { anId } from '@tintype/crds/schema/fields'
import { type Parameter, pathId } from '../../http/parameters.ts'
import { type Route, routeFor } from '../../http/route.ts'
import { webhookId } from '../webhooks/routes.ts'
import { deliveryFound, deliveryId, deliveryList, missedRedelivery, redeliveryAccepted } from './examples.ts'
import { type DeliveriesDeps, listDeliveries, readDelivery, redeliver, redeliverMissed } from './handlers.ts'
import { deliveryQuery } from './page.ts'
import { DeliveryFound, DeliveryList, MissedRedelivery, RedeliveryAccepted } from './record.ts'

const delivery: Parameter = {
  name: 'delivery',
  in: 'path',
  required: true,
  description: 'Id of the delivery, as in the header X-Webhook-Delivery of its posts.',
  schema: anId('dlv', 'An id with the prefix dlv_.'),
  example: deliveryId,
}
const route = routeFor<DeliveriesDeps>('Webhooks', pathId('wh', webhookId), delivery)

export const deliveryRoutes: readonly Route<DeliveriesDeps>[] = [
  route('GET /webhooks/{id}/deliveries', {
    id: 'listDeliveries',
    scope: 'webhooks:read',
    summary: 'List deliveries to a webhook endpoint',
    description:
      'Lists the deliveries of the last seven days, at most the last 500 attempts, newest first. The list may lag by a few seconds.',
    query: deliveryQuery,
    responses: { 200: { description: 'One page of deliveries.', schema: DeliveryList, example: deliveryList } },
    handle: listDeliveries,
  }),
  route('GET /webhooks/{id}/deliveries/{delivery}', {
    id: 'getDelivery',
    scope: 'webhooks:read',
    summary: 'Read a delivery',
    responses: { 200: { description: 'The delivery and its attempts.', schema: DeliveryFound, example: deliveryFound } },
    handle: readDelivery,
  }),
  route('POST /webhooks/{id}/deliveries/{delivery}/redeliver', {
    id: 'redeliver',
    scope: 'webhooks:write',
    summary: 'Redeliver an event',
    description:
      'Posts the same bytes with the same event id once. The attempt appears in the list after a few seconds. It does not count in the statistics.',
    responses: { 202: { description: 'The redelivery is queued.', schema: RedeliveryAccepted, example: redeliveryAccepted } },
    errors: ['CONFLICT', 'EXPIRED'],
    handle: redeliver,
  }),
  route('POST /webhooks/{id}/redeliver-missed', {
    id: 'redeliverMissed',
    scope: 'webhooks:write',
    summary: 'Redeliver all missed events',
    description:
      'Posts each event of the last 30 days whose delivery failed once more, with the same bytes and event id. An event that fails again stays missed. The attempts do not count in the statistics.',
    responses: { 202: { description: 'The redelivery is queued.', schema: MissedRedelivery, example: missedRedelivery } },
    errors: ['CONFLICT'],
    handle: redeliverMissed,
  }),
]
