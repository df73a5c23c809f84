import { keyHash, newKeyText } from '@tintype/crds/crypto/api-keys'
import { apiKeyIdOf } from '@tintype/crds/identifiers/ids'
import { Label } from '@tintype/crds/identifiers/names'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import type { FastifyReply } from 'fastify'
import { ApiError } from '../../common/errors.ts'
import type { Idempotency } from '../../creation/idempotency.ts'
import { NO_STORE } from '../../http/headers.ts'
import { pathId } from '../../http/parameters.ts'
import { type Input, linkTo, type Route, routeFor } from '../../http/route.ts'
import type { LinkKeySource, RecordStore } from '../../store/ports.ts'
import { assertBelowLimit, type ById, changeLatest, findOwnLatest, type OwnedKind, ownedRoutes, tagOf } from '../shared/owned-records.ts'
import { type RotateBody, rotateBody } from '../shared/rotation.ts'
import { checkUrl, checkUrlBody, UrlChecked } from './check-url.ts'
import {
  CreatedKey,
  type CreateKeyBody,
  createKeyBody,
  KeyRecord,
  KeyRotated,
  LinkSecretFound,
  toKeyRecord,
  type UpdateKeyBody,
  updateKeyBody,
} from './fields.ts'
import {
  assertCanGrant,
  assertCanManage,
  assertCanSignLinks,
  buildApiKey,
  findReplacementKey,
  type KeyUpdate,
  linkSecretOf,
  policyAfter,
  toKeyPatch,
  toKeyRotation,
  toKeyTouch,
  toLinkSecretRotation,
} from './key-object.ts'
import { assertPolicyLength, capturePolicies, linkPolicies } from './policy-fields.ts'

export interface KeysDeps {
  apiKeys: RecordStore<ApiKey>
  idempotency: Idempotency
  linkKey: LinkKeySource
  /** Maximum keys per account. */
  maxKeys: number
  now: () => Date
}

const WHAT = 'API key'
const keyId = 'key_01kajq2v0vtz8m3c5x7r9w4n6p'
const createdAt = '2026-11-21T10:00:00.000Z'
const example = {
  id: keyId,
  name: 'deploy pipeline',
  key_prefix: 'ttk_',
  last_four: '9fKd',
  scopes: ['screenshots:read', 'screenshots:write'],
  is_active: true,
  created_at: createdAt,
  updated_at: createdAt,
  expires_at: '2027-11-21T10:00:00.000Z',
  last_used_at: null,
  previous_key_expires_at: null,
  link_policy: null,
  capture_policy: null,
}

/** Has the length of a key but is not a valid one. */
const text = 'ttk_EXAMPLEexampleEXAMPLEexampleEX9fKd'

const rotated = {
  message: 'API key rotated successfully',
  data: { ...example, previous_key_expires_at: '2026-11-22T10:00:00.000Z', key: text },
}
const linkSecretFound = {
  message: 'Link secret derived successfully',
  data: { key: keyId, link_secret: 'lsk_EXAMPLEexampleEXAMPLEexampleEXAMPLEexample_EXA' },
}

const urlChecked = { success: true, data: { url: 'https://example.com/', allowed: true, reason: null } }

const kind: OwnedKind<ApiKey, KeysDeps, CreateKeyBody, UpdateKeyBody> = {
  word: 'key',
  what: WHAT,
  noun: 'an API key',
  prefix: 'key',
  storeOf: ({ apiKeys }) => apiKeys,
  toRecord: toKeyRecord,
  isActive: ({ spec }) => spec.active !== false,
  create: ({ request, body }, deps) => {
    const policy = capturePolicies.toSpec(body.capture_policy)
    assertPolicyLength(policy)
    assertCanGrant(request.apiKey, policy, body.scopes)
    return (id) => makeKey(id, body, request.accountName, deps)
  },
  update: async (input, deps) => async (key) => {
    const { request, body } = input
    const policy = policyAfter(key, body)
    assertPolicyLength(policy)
    assertCanGrant(request.apiKey, policy, body.scopes ?? [])
    return changeSafely(input, key, body, deps, () => deps.apiKeys.patch(key, toKeyPatch(body, key, deps.now())))
  },
  put: {
    description: 'Absent fields stay unchanged. Unlike PATCH, `link_policy` and `capture_policy` replace all earlier limits.',
    toBody: ({ link_policy: links, capture_policy: captures, ...body }) => ({
      ...body,
      link_policy: links && linkPolicies.toWhole(links),
      capture_policy: captures && capturePolicies.toWhole(captures),
    }),
  },
  remove: (key, input, deps) => changeSafely(input, key, 'delete', deps, () => deps.apiKeys.delete(key)),
  bodies: { create: createKeyBody, update: updateKeyBody },
  schemas: { record: KeyRecord, created: CreatedKey },
  examples: { record: example, created: { key: text }, updated: { name: 'old pipeline', is_active: false } },
  descriptions: {
    create:
      'Only this response contains the text of the key. A key cannot grant scopes that it lacks, nor captures that its own capture policy refuses.',
    update: 'A merge patch (RFC 7396): absent fields stay unchanged.',
    remove: 'All replicas reject the key, typically within a second. The last active key cannot delete itself.',
    found: 'The key, without its text.',
    response: 'One key.',
    read: 'Reads the key, without its text.',
  },
  replayedMessage: 'API key created by an earlier request. Its text is shown only once: rotate the key to get a new one',
  links: { rotate: linkTo('rotateKey', 'Rotates the key.') },
  errors: {
    create: ['POLICY_TOO_NARROW'],
    update: ['LAST_API_KEY', 'POLICY_TOO_NARROW'],
    remove: ['LAST_API_KEY', 'POLICY_TOO_NARROW'],
  },
}

const route = routeFor<KeysDeps>('API keys', pathId('key', keyId))
const { collection, one } = ownedRoutes(route, kind)

export const keyRoutes: readonly Route<KeysDeps>[] = [
  ...collection,
  ...one,
  route('POST /keys/{id}/rotate', {
    id: 'rotateKey',
    scope: 'keys:write',
    summary: 'Rotate an API key',
    description: 'Replaces the text of the key. The old text stays valid for `overlap_hours`. Only this response contains the new text.',
    body: rotateBody({ day: { summary: 'Both texts stay valid for a day', value: { overlap_hours: 24 } } }),
    responses: { 201: { description: 'Rotated.', schema: KeyRotated, example: rotated, headers: ['Location', 'ETag'] } },
    errors: ['CONFLICT', 'ROTATION_IN_PROGRESS', 'POLICY_TOO_NARROW'],
    handle: rotateKey,
  }),
  route('POST /keys/{id}/check-url', {
    id: 'checkKeyUrl',
    scope: 'keys:read',
    summary: 'Test a URL against the capture policy of an API key',
    description: 'Captures nothing. Says whether the capture policy allows the host of the URL, before redirects.',
    body: checkUrlBody,
    responses: { 200: { description: 'Tested.', schema: UrlChecked, example: urlChecked } },
    handle: checkUrl,
  }),
  route('POST /keys/{id}/link-secret', {
    id: 'getLinkSecret',
    scope: 'keys:write',
    summary: 'Get the link secret of an API key',
    description:
      'Returns the secret that signs links of the key, the same one each time. Your key must have all scopes of that key, and a capture policy at least as wide.',
    responses: { 200: { description: 'The secret.', schema: LinkSecretFound, example: linkSecretFound } },
    errors: ['POLICY_TOO_NARROW'],
    handle: readLinkSecret,
  }),
  route('POST /keys/{id}/link-secret/rotate', {
    id: 'rotateLinkSecret',
    scope: 'keys:write',
    summary: 'Rotate the link secret of an API key',
    description:
      'Returns a new secret. Links signed with the old secret work for `overlap_hours`. Your key must have all scopes of that key, and a capture policy at least as wide.',
    body: rotateBody({ day: { summary: 'Links of both secrets stay valid for a day', value: { overlap_hours: 24 } } }),
    responses: {
      200: {
        description: 'Rotated.',
        schema: LinkSecretFound,
        example: { ...linkSecretFound, message: 'Link secret rotated successfully' },
        headers: ['ETag'],
      },
    },
    errors: ['CONFLICT', 'ROTATION_IN_PROGRESS', 'POLICY_TOO_NARROW'],
    handle: rotateLinkSecret,
  }),
]

/** Creates a key. Its text is returned and never stored. */
async function makeKey(id: string, body: CreateKeyBody, accountName: string, deps: KeysDeps) {
  assertBelowLimit(deps.apiKeys.ofAccount(accountName).length, deps.maxKeys, 'API keys')
  const now = deps.now()
  const text = newKeyText()
  const created = await deps.apiKeys.create(buildApiKey(body, { id, accountName, text, now }))
  const isOurs = created.metadata.labels?.[Label.keyHash1] === keyHash(text)
  return { created, secret: isOurs ? { key: text } : undefined }
}

/**
 * Changes a key if another key can still manage the account's keys. That replacement key is written first, with its resource version as a
 * precondition. If two requests remove each other's replacement key, one of them gets a conflict and evaluates again.
 */
async function changeSafely<R>(
  { request }: Pick<Input, 'request'>,
  key: ApiKey,
  change: KeyUpdate,
  { apiKeys, now }: KeysDeps,
  write: () => Promise<R>,
): Promise<R> {
  assertCanManage(request.apiKey, key)
  const successor = await findReplacementKey(key, change, () => apiKeys.latestOfAccount(request.accountName), now())
  if (successor) await apiKeys.patch(successor, toKeyTouch()).catch(toConflict)
  return write()
}

/** A deleted replacement key counts as a conflict, so the caller looks for another one. */
const toConflict = (error: unknown): never => {
  if (error instanceof ApiError && error.code === 'NOT_FOUND')
    throw new ApiError('CONFLICT', 'another request has just changed the keys of the account: retry', { cause: error })
  throw error
}

const pathOf = (key: ApiKey): string => `/api/v1/keys/${apiKeyIdOf(key.metadata)}`

async function rotateKey(input: Input<ById, RotateBody>, { apiKeys, now }: KeysDeps): Promise<FastifyReply> {
  const { request, reply, body } = input
  const text = newKeyText()
  const rotated = await changeLatest({
    read: () => findOwnLatest(input, apiKeys, WHAT),
    change: async (key) => {
      assertCanManage(request.apiKey, key)
      return apiKeys.patch(key, toKeyRotation(key, text, body, now()))
    },
  })
  return reply
    .code(201)
    .headers({ ...NO_STORE, location: pathOf(rotated), etag: tagOf(rotated) })
    .send({ message: 'API key rotated successfully', data: { ...toKeyRecord(rotated, now()), key: text } })
}

/** Reads the latest state, because the cache of a replica may have the version before a rotation. */
async function readLinkSecret(input: Input<ById>, { apiKeys, linkKey }: KeysDeps): Promise<FastifyReply> {
  const key = await findOwnLatest(input, apiKeys, WHAT)
  assertCanSignLinks(input.request.apiKey, key)
  const data = { key: input.params.id, link_secret: linkSecretOf(key, linkKey()) }
  return input.reply.headers(NO_STORE).send({ message: 'Link secret derived successfully', data })
}

async function rotateLinkSecret(input: Input<ById, RotateBody>, { apiKeys, linkKey, now }: KeysDeps): Promise<FastifyReply> {
  const { request, reply, params, body } = input
  // Before the write, so that a gateway without the key does not rotate a secret that it cannot return.
  const releaseKey = linkKey()
  const rotated = await changeLatest({
    read: () => findOwnLatest(input, apiKeys, WHAT),
    change: async (key) => {
      assertCanSignLinks(request.apiKey, key)
      return apiKeys.patch(key, toLinkSecretRotation(key, body, now()))
    },
  })
  const data = { key: params.id, link_secret: linkSecretOf(rotated, releaseKey) }
  return reply.headers({ ...NO_STORE, etag: tagOf(rotated) }).send({ message: 'Link secret rotated successfully', data })
}
