import { ifMatch, ifNoneMatch, pathId } from '../../http/parameters.ts'
import { linkTo, type Route, routeFor } from '../../http/route.ts'
import { offsetQuery } from '../shared/offset-page.ts'
import { rotateBody } from '../shared/rotation.ts'
import { createWebhookBody, updateWebhookBody } from './bodies.ts'
import {
  defaultWebhookFound,
  secretRotated,
  webhookChanged,
  webhookCreated,
  webhookFound,
  webhookId,
  webhookList,
  webhookTested,
} from './examples.ts'
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  readDefaultWebhook,
  readWebhook,
  rotateDefaultSecret,
  rotateSecret,
  testWebhook,
  updateWebhook,
  type WebhooksDeps,
} from './handlers.ts'
import { SecretRotated, WebhookChanged, WebhookCreated, WebhookFound, WebhookList, WebhookTestResult } from './record.ts'

const route = routeFor<WebhooksDeps>('Webhooks', pathId('wh', webhookId))

const update = {
  scope: 'webhooks:write',
  parameters: [ifMatch],
  body: updateWebhookBody,
  responses: { 200: { description: 'Changed.', schema: WebhookChanged, example: webhookChanged } },
  errors: ['URL_NOT_ALLOWED', 'CONFLICT'],
  handle: updateWebhook,
} as const

export const webhookRoutes: readonly Route<WebhooksDeps>[] = [
  route('POST /webhooks', {
    id: 'createWebhook',
    scope: 'webhooks:write',
    summary: 'Create a webhook endpoint',
    description: 'Only this response contains the signing secret.',
    isKeyed: true,
    body: createWebhookBody,
    responses: {
      201: {
        description: 'Created.',
        schema: WebhookCreated,
        example: webhookCreated,
        headers: ['Location', 'ETag'],
        links: {
          read: linkTo('getWebhook', 'Reads the webhook and its delivery statistics.'),
          update: linkTo('updateWebhook', 'Changes it.'),
          rotate: linkTo('rotateWebhookSecret', 'Rotates the signing secret.'),
          remove: linkTo('deleteWebhook', 'Deletes it.'),
        },
      },
    },
    errors: ['URL_NOT_ALLOWED', 'LIMIT_REACHED', 'CONFLICT'],
    handle: createWebhook,
  }),
  route('GET /webhooks', {
    id: 'listWebhooks',
    scope: 'webhooks:read',
    summary: 'List webhook endpoints',
    query: offsetQuery,
    responses: { 200: { description: 'One page of webhooks.', schema: WebhookList, example: webhookList } },
    handle: listWebhooks,
  }),
  route('GET /webhooks/default', {
    id: 'getDefaultWebhook',
    scope: 'webhooks:read',
    summary: 'Read the default webhook',
    description:
      'The default webhook signs and counts deliveries to the `webhook_url` of single requests. The first such request or the first rotation creates it.',
    parameters: [ifNoneMatch],
    responses: { 200: { description: 'The webhook and its statistics.', schema: WebhookFound, example: defaultWebhookFound } },
    errors: ['NOT_FOUND'],
    handle: readDefaultWebhook,
  }),
  route('POST /webhooks/default/rotate-secret', {
    id: 'rotateDefaultWebhookSecret',
    scope: 'webhooks:write',
    summary: 'Get a signing secret for webhook_url',
    description:
      'Creates the default webhook if there is none. Only this response contains the new secret. The previous secret also signs for `overlap_hours`.',
    body: rotateBody({ atOnce: { summary: 'Replace the secret immediately', value: { overlap_hours: 0 } } }),
    responses: { 200: { description: 'Rotated.', schema: SecretRotated, example: secretRotated, headers: ['ETag'] } },
    errors: ['CONFLICT', 'ROTATION_IN_PROGRESS'],
    handle: rotateDefaultSecret,
  }),
  route('GET /webhooks/{id}', {
    id: 'getWebhook',
    scope: 'webhooks:read',
    summary: 'Read a webhook endpoint',
    parameters: [ifNoneMatch],
    responses: { 200: { description: 'The endpoint and its statistics.', schema: WebhookFound, example: webhookFound } },
    handle: readWebhook,
  }),
  route('PATCH /webhooks/{id}', {
    ...update,
    id: 'updateWebhook',
    summary: 'Update a webhook endpoint',
    description: 'A merge patch (RFC 7396): absent fields stay unchanged.',
  }),
  route('PUT /webhooks/{id}', {
    ...update,
    id: 'putWebhook',
    summary: 'Update a webhook endpoint (PUT)',
    description: 'Same as PATCH: absent fields stay unchanged.',
  }),
  route('DELETE /webhooks/{id}', {
    id: 'deleteWebhook',
    scope: 'webhooks:write',
    summary: 'Delete a webhook endpoint',
    description: 'Deletes the webhook permanently and stops its deliveries.',
    parameters: [ifMatch],
    responses: { 204: { description: 'Deleted.' } },
    errors: ['CONFLICT'],
    handle: deleteWebhook,
  }),
  route('POST /webhooks/{id}/rotate-secret', {
    id: 'rotateWebhookSecret',
    scope: 'webhooks:write',
    summary: 'Rotate the signing secret of a webhook endpoint',
    description: 'Both secrets sign events for `overlap_hours`. Only this response contains the new secret.',
    body: rotateBody({ day: { summary: 'Both secrets sign for a day', value: { overlap_hours: 24 } } }),
    responses: { 200: { description: 'Rotated.', schema: SecretRotated, example: secretRotated, headers: ['ETag'] } },
    errors: ['CONFLICT', 'ROTATION_IN_PROGRESS'],
    handle: rotateSecret,
  }),
  route('POST /webhooks/{id}/test', {
    id: 'testWebhook',
    scope: 'webhooks:write',
    summary: 'Send a test event to a webhook endpoint',
    description:
      'Posts a sample `screenshot.completed` event with `data.test: true` once, even to an inactive endpoint. It does not count in the statistics. ' +
      'The status is always 200; the body contains the response of the endpoint.',
    responses: { 200: { description: 'Result of the test.', schema: WebhookTestResult, example: webhookTested } },
    handle: testWebhook,
  }),
]
