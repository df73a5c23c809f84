import { DeliveryFound, DeliveryList, RedeliveryAccepted, WebhookTestResult } from '../schemas/webhook.ts'
import { deliveryFound, deliveryId, deliveryList, redeliveryAccepted, webhookId, webhookTested } from './account-examples.ts'
import type { Operation } from './operation.ts'
import { deliveryParameters, deliveryPath, pathId } from './parameters.ts'

const id = pathId('wh', webhookId)
const delivery = deliveryPath(deliveryId)

/** The operations. */
export const deliveryOperations: readonly Operation[] = [
  {
    id: 'testWebhook',
    method: 'post',
    path: '/webhooks/{id}/test',
    tag: 'Webhooks',
    scope: 'webhooks:write',
    summary: 'Send a test event to a webhook endpoint',
    description:
      'Posts a sample `screenshot.completed` with `data.test: true`, once, also to an endpoint that is not active; it is in no statistics. ' +
      'The response is 200 whatever the endpoint responded.',
    parameters: [id],
    responses: { 200: { description: 'How it went.', schema: WebhookTestResult, example: webhookTested, headers: ['Cache-Control'] } },
    errors: ['NOT_FOUND'],
  },
  {
    id: 'listDeliveries',
    method: 'get',
    path: '/webhooks/{id}/deliveries',
    tag: 'Webhooks',
    scope: 'webhooks:read',
    summary: 'List deliveries to a webhook endpoint',
    description: 'Deliveries of the last seven days, at most the last 500 attempts, newest first. The list is a few seconds behind.',
    parameters: [id, ...deliveryParameters],
    responses: { 200: { description: 'A page of the list.', schema: DeliveryList, example: deliveryList, headers: ['Cache-Control'] } },
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
    summary: 'Deliver an event once more',
    description: 'One attempt with the same event id and the same bytes, in the list a few seconds later; it is in no statistics.',
    parameters: [id, delivery],
    responses: {
      202: { description: 'It will be posted.', schema: RedeliveryAccepted, example: redeliveryAccepted, headers: ['Cache-Control'] },
    },
    errors: ['NOT_FOUND', 'CONFLICT', 'EXPIRED'],
  },
]
