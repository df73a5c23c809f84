import { ifMatch, ifNoneMatch, pathId } from '../../http/parameters.ts'
import { linkTo, type Route, routeFor } from '../../http/route.ts'
import { offsetQuery } from '../shared/offset-page.ts'
import { rotateBody } from '../shared/rotation.ts'
import { createKeyBody, updateKeyBody } from './bodies.ts'
import { keyChanged, keyCreated, keyFound, keyId, keyList, keyRotated, linkSecretFound, linkSecretRotated } from './examples.ts'
import {
  createKey,
  deleteKey,
  type KeysDeps,
  listKeys,
  readKey,
  readLinkSecret,
  replaceFields,
  rotateKey,
  rotateLinkSecret,
  updateKey,
} from './handlers.ts'
import { KeyChanged, KeyCreated, KeyFound, KeyList, KeyRotated, LinkSecretFound } from './record.ts'

const route = routeFor<KeysDeps>('API keys', pathId('key', keyId))

const update = {
  scope: 'keys:write',
  parameters: [ifMatch],
  body: updateKeyBody,
  responses: { 200: { description: 'Changed.', schema: KeyChanged, example: keyChanged } },
  errors: ['CONFLICT', 'LAST_API_KEY'],
  handle: updateKey,
} as const

export const keyRoutes: readonly Route<KeysDeps>[] = [
  route('POST /keys', {
    id: 'createKey',
    scope: 'keys:write',
    summary: 'Create an API key',
    description: 'Only this response contains the text of the key. A key cannot grant scopes that it lacks.',
    isKeyed: true,
    body: createKeyBody,
    responses: {
      201: {
        description: 'Created.',
        schema: KeyCreated,
        example: keyCreated,
        headers: ['Location', 'ETag'],
        links: {
          read: linkTo('getKey', 'Reads the key, without its text.'),
          update: linkTo('updateKey', 'Changes it.'),
          rotate: linkTo('rotateKey', 'Rotates the key.'),
          remove: linkTo('deleteKey', 'Deletes it.'),
        },
      },
    },
    errors: ['LIMIT_REACHED', 'CONFLICT'],
    handle: createKey,
  }),
  route('GET /keys', {
    id: 'listKeys',
    scope: 'keys:read',
    summary: 'List API keys',
    query: offsetQuery,
    responses: { 200: { description: 'One page of API keys.', schema: KeyList, example: keyList } },
    handle: listKeys,
  }),
  route('GET /keys/{id}', {
    id: 'getKey',
    scope: 'keys:read',
    summary: 'Read an API key',
    parameters: [ifNoneMatch],
    responses: { 200: { description: 'The key, without its text.', schema: KeyFound, example: keyFound } },
    handle: readKey,
  }),
  route('PATCH /keys/{id}', {
    ...update,
    id: 'updateKey',
    summary: 'Update an API key',
    description: 'A merge patch (RFC 7396): absent fields stay unchanged.',
  }),
  route('PUT /keys/{id}', {
    ...update,
    id: 'putKey',
    summary: 'Update an API key (PUT)',
    description: 'Absent fields stay unchanged. Unlike PATCH, `link_policy` replaces all earlier limits.',
    handle: replaceFields,
  }),
  route('DELETE /keys/{id}', {
    id: 'deleteKey',
    scope: 'keys:write',
    summary: 'Delete an API key',
    description: 'All replicas reject the key, typically within a second. The last active key cannot delete itself.',
    parameters: [ifMatch],
    responses: { 204: { description: 'Deleted.' } },
    errors: ['CONFLICT', 'LAST_API_KEY'],
    handle: deleteKey,
  }),
  route('POST /keys/{id}/rotate', {
    id: 'rotateKey',
    scope: 'keys:write',
    summary: 'Rotate an API key',
    description: 'Replaces the text of the key. The old text stays valid for `overlap_hours`. Only this response contains the new text.',
    body: rotateBody({ day: { summary: 'Both texts stay valid for a day', value: { overlap_hours: 24 } } }),
    responses: { 201: { description: 'Rotated.', schema: KeyRotated, example: keyRotated, headers: ['Location', 'ETag'] } },
    errors: ['CONFLICT', 'ROTATION_IN_PROGRESS'],
    handle: rotateKey,
  }),
  route('POST /keys/{id}/link-secret', {
    id: 'getLinkSecret',
    scope: 'keys:write',
    summary: 'Get the link secret of an API key',
    description: 'Returns the secret that signs links of the key, the same one each time. Your key must have all scopes of that key.',
    responses: { 200: { description: 'The secret.', schema: LinkSecretFound, example: linkSecretFound } },
    handle: readLinkSecret,
  }),
  route('POST /keys/{id}/link-secret/rotate', {
    id: 'rotateLinkSecret',
    scope: 'keys:write',
    summary: 'Rotate the link secret of an API key',
    description:
      'Returns a new secret. Links signed with the old secret work for `overlap_hours`. Your key must have all scopes of that key.',
    body: rotateBody({ day: { summary: 'Links of both secrets stay valid for a day', value: { overlap_hours: 24 } } }),
    responses: { 200: { description: 'Rotated.', schema: LinkSecretFound, example: linkSecretRotated, headers: ['ETag'] } },
    errors: ['CONFLICT', 'ROTATION_IN_PROGRESS'],
    handle: rotateLinkSecret,
  }),
]
