import type { Operation } from '../../http/route.ts'
import { DeliveryFound, DeliveryList, RedeliveryAccepted, WebhookTestResult } from '../schemas/webhook.ts'
import { deliveryFound, deliveryId, deliveryList, redeliveryAccepted, webhookId, webhookTested } from './account-examples.ts'
import { deliveryParameters, deliveryPath, pathId } from './parameters.ts'

const id = pathId('wh', webhookId)
const delivery = deliveryPath(deliveryId)

/** Operations of webhook deliveries. */
export const deliveryOperations: readonly Operation[] = [
  {
    id: 'testWebhook',
    method: 'post',
    path: '/webhooks/{id}/test',
    tag: 'Webhooks',
    scope: 'webhooks:write',
    summary: 'Send a test event to a webhook endpoint',
    description:
      'Posts a sample `screenshot.completed` event with `data.test: true` once, even to an inactive endpoint. It does not count in the statistics. ' +
      'The status is always 200; the body contains the response of the endpoint.',
    parameters: [id],
    responses: {
      200: { description: 'Result of the test.', schema: WebhookTestResult, example: webhookTested, headers: ['Cache-Control'] },
    },
    errors: ['NOT_FOUND'],
  },
  {
    id: 'listDeliveries',
    method: 'get',
    path: '/webhooks/{id}/deliveries',
    tag: 'Webhooks',
    scope: 'webhooks:read',
    summary: 'List deliveries to a webhook endpoint',
    description:
      'Lists the deliveries of the last seven days, at most the last 500 attempts, newest first. The list may lag by a few seconds.',
    parameters: [id, ...deliveryParameters],
    responses: { 200: { description: 'One page of deliveries.', schema: DeliveryList, example: deliveryList, headers: ['Cache-Control'] } },
    errors: ['NOT_FOUND'],
  },
  {
    id: 'getDelivery',
    method: 'get',
    path: '/webhooks/{id}/deliveries/{delivery}',
    tag: 'Webhooks',
    scope: 'webhooks:read',
    summary: 'Read a delivery',
    parameters: [id, delivery],
    responses: {
      200: { description: 'The delivery and its attempts.', schema: DeliveryFound, example: deliveryFound, headers: ['Cache-Control'] },
    },
    errors: ['NOT_FOUND'],
  },
  {
    id: 'redeliver',
    method: 'post',
    path: '/webhooks/{id}/deliveries/{delivery}/redeliver',
    tag: 'Webhooks',
    scope: 'webhooks:write',
    summary: 'Redeliver an event',
    description:
      'Posts the same bytes with the same event id once. The attempt appears in the list after a few seconds. It does not count in the statistics.',
    parameters: [id, delivery],
    responses: {
      202: {
        description: 'The redelivery is queued.',
        schema: RedeliveryAccepted,
        example: redeliveryAccepted,
        headers: ['Cache-Control'],
      },
    },
    errors: ['NOT_FOUND', 'CONFLICT', 'EXPIRED'],
  },
]
