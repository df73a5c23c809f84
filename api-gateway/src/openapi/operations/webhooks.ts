import type { Link, Operation } from '../../http/route.ts'
import { RotateBody as RotateSecret } from '../../resources/shared/rotation.ts'
import { CreateWebhook, UpdateWebhook } from '../schemas/bodies.ts'
import { SigningSecretRotated, WebhookChanged, WebhookCreated, WebhookFound, WebhookList } from '../schemas/webhook.ts'
import {
  defaultWebhookFound,
  secretRotated,
  webhookChanged,
  webhookCreated,
  webhookFound,
  webhookId,
  webhookList,
} from './account-examples.ts'
import { ifMatch, ifNoneMatch, includeInactive, limit, offset, pathId } from './parameters.ts'

const id = pathId('wh', webhookId)
const common = { tag: 'Webhooks', path: '/webhooks/{id}' } as const

const toWebhook = (operationId: string, description: string): Link => ({
  operationId,
  description,
  parameters: { id: '$response.body#/data/id' },
})

const update = {
  ...common,
  scope: 'webhooks:write',
  parameters: [id, ifMatch],
  body: { schema: UpdateWebhook, examples: { pause: { summary: 'Deactivate the webhook', value: { is_active: false } } } },
  responses: {
    200: {
      description: 'Changed.',
      schema: WebhookChanged,
      example: webhookChanged,
      headers: ['ETag', 'Cache-Control', 'X-Ignored-Options'],
    },
  },
  errors: ['URL_NOT_ALLOWED', 'NOT_FOUND', 'CONFLICT', 'PRECONDITION_FAILED'],
} as const

/** Operations of webhook endpoints. */
export const webhookOperations: readonly Operation[] = [
  {
    id: 'createWebhook',
    method: 'post',
    path: '/webhooks',
    tag: 'Webhooks',
    scope: 'webhooks:write',
    summary: 'Create a webhook endpoint',
    description: 'Only this response contains the signing secret.',
    isKeyed: true,
    body: {
      schema: CreateWebhook,
      examples: {
        simple: {
          summary: 'Completed and failed screenshots',
          value: { name: 'orders', url: 'https://hooks.example.com/tintype', events: ['screenshot.completed', 'screenshot.failed'] },
        },
      },
    },
    responses: {
      201: {
        description: 'Created.',
        schema: WebhookCreated,
        example: webhookCreated,
        headers: ['Location', 'ETag', 'Cache-Control', 'Idempotent-Replayed', 'X-Ignored-Options'],
        links: {
          read: toWebhook('getWebhook', 'Reads the webhook and its delivery statistics.'),
          update: toWebhook('updateWebhook', 'Changes it.'),
          rotate: toWebhook('rotateWebhookSecret', 'Rotates the signing secret.'),
          remove: toWebhook('deleteWebhook', 'Deletes it.'),
        },
      },
    },
    errors: ['URL_NOT_ALLOWED', 'LIMIT_REACHED', 'CONFLICT'],
  },
  {
    id: 'listWebhooks',
    method: 'get',
    path: '/webhooks',
    tag: 'Webhooks',
    scope: 'webhooks:read',
    summary: 'List webhook endpoints',
    parameters: [includeInactive, limit, offset()],
    responses: { 200: { description: 'One page of webhooks.', schema: WebhookList, example: webhookList, headers: ['Cache-Control'] } },
  },
  {
    id: 'getDefaultWebhook',
    method: 'get',
    path: '/webhooks/default',
    tag: 'Webhooks',
    scope: 'webhooks:read',
    summary: 'Read the default webhook',
    description:
      'The default webhook signs and counts deliveries to the `webhook_url` of single requests. The first such request or the first rotation creates it.',
    parameters: [ifNoneMatch],
    responses: {
      200: {
        description: 'The webhook and its statistics.',
        schema: WebhookFound,
        example: defaultWebhookFound,
        headers: ['ETag', 'Cache-Control'],
      },
      304: { description: 'The client already has this version.', headers: ['ETag', 'Cache-Control'] },
    },
    errors: ['NOT_FOUND'],
  },
  {
    id: 'rotateDefaultWebhookSecret',
    method: 'post',
    path: '/webhooks/default/rotate-secret',
    tag: 'Webhooks',
    scope: 'webhooks:write',
    summary: 'Get a signing secret for webhook_url',
    description:
      'Creates the default webhook if there is none. Only this response contains the new secret. The previous secret also signs for `overlap_hours`.',
    body: {
      schema: RotateSecret,
      required: false,
      examples: { atOnce: { summary: 'Replace the secret immediately', value: { overlap_hours: 0 } } },
    },
    responses: {
      200: {
        description: 'Rotated.',
        schema: SigningSecretRotated,
        example: secretRotated,
        headers: ['ETag', 'Cache-Control', 'X-Ignored-Options'],
      },
    },
    errors: ['CONFLICT', 'ROTATION_IN_PROGRESS'],
  },
  {
    ...common,
    id: 'getWebhook',
    method: 'get',
    scope: 'webhooks:read',
    summary: 'Read a webhook endpoint',
    parameters: [id, ifNoneMatch],
    responses: {
      200: {
        description: 'The endpoint and its statistics.',
        schema: WebhookFound,
        example: webhookFound,
        headers: ['ETag', 'Cache-Control'],
      },
      304: { description: 'The client already has this version.', headers: ['ETag', 'Cache-Control'] },
    },
    errors: ['NOT_FOUND'],
  },
  { ...update, id: 'updateWebhook', method: 'patch', summary: 'Update a webhook endpoint', description: 'Absent fields stay unchanged.' },
  {
    ...update,
    id: 'putWebhook',
    method: 'put',
    summary: 'Update a webhook endpoint (PUT)',
    description: 'Same as PATCH: absent fields stay unchanged.',
  },
  {
    ...common,
    id: 'deleteWebhook',
    method: 'delete',
    scope: 'webhooks:write',
    summary: 'Delete a webhook endpoint',
    description: 'Deletes the webhook permanently and stops its deliveries.',
    parameters: [id, ifMatch],
    responses: { 204: { description: 'Deleted.' } },
    errors: ['NOT_FOUND', 'CONFLICT', 'PRECONDITION_FAILED'],
  },
  {
    id: 'rotateWebhookSecret',
    method: 'post',
    path: '/webhooks/{id}/rotate-secret',
    tag: 'Webhooks',
    scope: 'webhooks:write',
    summary: 'Rotate the signing secret of a webhook endpoint',
    description: 'Both secrets sign events for `overlap_hours`. Only this response contains the new secret.',
    parameters: [id],
    body: {
      schema: RotateSecret,
      required: false,
      examples: { day: { summary: 'Both secrets sign for a day', value: { overlap_hours: 24 } } },
    },
    responses: {
      200: {
        description: 'Rotated.',
        schema: SigningSecretRotated,
        example: secretRotated,
        headers: ['ETag', 'Cache-Control', 'X-Ignored-Options'],
      },
    },
    errors: ['NOT_FOUND', 'CONFLICT', 'ROTATION_IN_PROGRESS'],
  },
]
