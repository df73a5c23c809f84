import { CreateWebhook, RotateSecret, UpdateWebhook } from '../schemas/bodies.ts'
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
import type { Link, Operation } from './operation.ts'
import { ifMatch, ifNoneMatch, includeInactive, limit, offset, pathId, prefer } from './parameters.ts'

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
  parameters: [id, ifMatch, prefer],
  body: { schema: UpdateWebhook, examples: { pause: { summary: 'Send nothing for now', value: { is_active: false } } } },
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

/** The operations. */
export const webhookOperations: readonly Operation[] = [
  {
    id: 'createWebhook',
    method: 'post',
    path: '/webhooks',
    tag: 'Webhooks',
    scope: 'webhooks:write',
    summary: 'Create a webhook endpoint',
    description: 'The signing secret is in this response and nowhere else.',
    parameters: [prefer],
    isKeyed: true,
    body: {
      schema: CreateWebhook,
      examples: {
        simple: {
          summary: 'Told of every end',
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
          read: toWebhook('getWebhook', 'Reads it, and how its deliveries went.'),
          update: toWebhook('updateWebhook', 'Changes it.'),
          rotate: toWebhook('rotateWebhookSecret', 'Gives it a new signing secret.'),
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
    responses: { 200: { description: 'A page of the list.', schema: WebhookList, example: webhookList, headers: ['Cache-Control'] } },
  },
  {
    id: 'getDefaultWebhook',
    method: 'get',
    path: '/webhooks/default',
    tag: 'Webhooks',
    scope: 'webhooks:read',
    summary: 'Read the default webhook',
    description:
      'It signs and counts what is posted to the `webhook_url` of single requests. There is none before the first of them, or the first rotation.',
    parameters: [ifNoneMatch],
    responses: {
      200: {
        description: 'The webhook and its statistics.',
        schema: WebhookFound,
        example: defaultWebhookFound,
        headers: ['ETag', 'Cache-Control'],
      },
      304: { description: 'The client has this version already.', headers: ['ETag', 'Cache-Control'] },
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
      'Makes the default webhook when there is none. The new secret is in this response and nowhere else; the one before signs too for `overlap_hours`.',
    parameters: [prefer],
    body: {
      schema: RotateSecret,
      required: false,
      examples: { atOnce: { summary: 'The new one alone, at once', value: { overlap_hours: 0 } } },
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
      304: { description: 'The client has this version already.', headers: ['ETag', 'Cache-Control'] },
    },
    errors: ['NOT_FOUND'],
  },
  { ...update, id: 'updateWebhook', method: 'patch', summary: 'Change a webhook endpoint', description: 'Absent fields stay unchanged.' },
  {
    ...update,
    id: 'putWebhook',
    method: 'put',
    summary: 'Change a webhook endpoint (PUT)',
    description: 'The same as PATCH: absent fields stay unchanged.',
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
    summary: 'Give a webhook endpoint a new signing secret',
    description: 'Events are signed with both for `overlap_hours`. The new one is in this response and nowhere else.',
    parameters: [id, prefer],
    body: { schema: RotateSecret, required: false, examples: { day: { summary: 'Both sign for a day', value: { overlap_hours: 24 } } } },
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
