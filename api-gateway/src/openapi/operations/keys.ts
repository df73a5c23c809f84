import { CreateKey, RotateSecret, UpdateKey } from '../schemas/bodies.ts'
import { ApiKeyChanged, ApiKeyCreated, ApiKeyFound, ApiKeyList, ApiKeyRotated } from '../schemas/key.ts'
import { keyChanged, keyCreated, keyFound, keyId, keyList, keyRotated } from './account-examples.ts'
import type { Link, Operation } from './operation.ts'
import { ifMatch, ifNoneMatch, includeInactive, limit, offset, pathId, prefer } from './parameters.ts'

const id = pathId('key', keyId)
const common = { tag: 'API keys', path: '/keys/{id}' } as const

const toKey = (operationId: string, description: string): Link => ({
  operationId,
  description,
  parameters: { id: '$response.body#/data/id' },
})

const update = {
  ...common,
  scope: 'keys:write',
  parameters: [id, ifMatch, prefer],
  body: {
    schema: UpdateKey,
    examples: { retire: { summary: 'Deactivate the key', value: { name: 'old pipeline', is_active: false } } },
  },
  responses: {
    200: { description: 'Changed.', schema: ApiKeyChanged, example: keyChanged, headers: ['ETag', 'Cache-Control', 'X-Ignored-Options'] },
  },
  errors: ['NOT_FOUND', 'CONFLICT', 'LAST_API_KEY', 'PRECONDITION_FAILED'],
} as const

/** Operations of API keys. */
export const keyOperations: readonly Operation[] = [
  {
    id: 'createKey',
    method: 'post',
    path: '/keys',
    tag: 'API keys',
    scope: 'keys:write',
    summary: 'Create an API key',
    description: 'Only this response contains the text of the key. A key cannot grant scopes that it lacks.',
    parameters: [prefer],
    isKeyed: true,
    body: {
      schema: CreateKey,
      examples: {
        limited: {
          summary: 'A key for screenshots, for a year',
          value: { name: 'deploy pipeline', scopes: ['screenshots:read', 'screenshots:write'], expires_in_days: 365 },
        },
        full: { summary: 'A key with all scopes', value: { name: 'operations' } },
      },
    },
    responses: {
      201: {
        description: 'Created.',
        schema: ApiKeyCreated,
        example: keyCreated,
        headers: ['Location', 'ETag', 'Cache-Control', 'Idempotent-Replayed', 'X-Ignored-Options'],
        links: {
          read: toKey('getKey', 'Reads the key, without its text.'),
          update: toKey('updateKey', 'Changes it.'),
          rotate: toKey('rotateKey', 'Rotates the key.'),
          remove: toKey('deleteKey', 'Deletes it.'),
        },
      },
    },
    errors: ['LIMIT_REACHED', 'CONFLICT'],
  },
  {
    id: 'listKeys',
    method: 'get',
    path: '/keys',
    tag: 'API keys',
    scope: 'keys:read',
    summary: 'List API keys',
    parameters: [includeInactive, limit, offset()],
    responses: { 200: { description: 'One page of API keys.', schema: ApiKeyList, example: keyList, headers: ['Cache-Control'] } },
  },
  {
    ...common,
    id: 'getKey',
    method: 'get',
    scope: 'keys:read',
    summary: 'Read an API key',
    parameters: [id, ifNoneMatch],
    responses: {
      200: { description: 'The key, without its text.', schema: ApiKeyFound, example: keyFound, headers: ['ETag', 'Cache-Control'] },
      304: { description: 'The client already has this version.', headers: ['ETag', 'Cache-Control'] },
    },
    errors: ['NOT_FOUND'],
  },
  { ...update, id: 'updateKey', method: 'patch', summary: 'Update an API key', description: 'Absent fields stay unchanged.' },
  {
    ...update,
    id: 'putKey',
    method: 'put',
    summary: 'Update an API key (PUT)',
    description: 'Same as PATCH: absent fields stay unchanged.',
  },
  {
    ...common,
    id: 'deleteKey',
    method: 'delete',
    scope: 'keys:write',
    summary: 'Delete an API key',
    description: 'All replicas reject the key, typically within a second. The last active key cannot delete itself.',
    parameters: [id, ifMatch],
    responses: { 204: { description: 'Deleted.' } },
    errors: ['NOT_FOUND', 'CONFLICT', 'LAST_API_KEY', 'PRECONDITION_FAILED'],
  },
  {
    id: 'rotateKey',
    method: 'post',
    path: '/keys/{id}/rotate',
    tag: 'API keys',
    scope: 'keys:write',
    summary: 'Rotate an API key',
    description: 'Replaces the text of the key. The old text stays valid for `overlap_hours`. Only this response contains the new text.',
    parameters: [id, prefer],
    body: {
      schema: RotateSecret,
      required: false,
      examples: { day: { summary: 'Both texts stay valid for a day', value: { overlap_hours: 24 } } },
    },
    responses: {
      201: {
        description: 'Rotated.',
        schema: ApiKeyRotated,
        example: keyRotated,
        headers: ['Location', 'ETag', 'Cache-Control', 'X-Ignored-Options'],
      },
    },
    errors: ['NOT_FOUND', 'CONFLICT', 'ROTATION_IN_PROGRESS'],
  },
]
