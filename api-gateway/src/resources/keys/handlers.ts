import { keyHash, newKeyText } from '@tintype/crds/crypto/api-keys'
import { apiKeyIdOf } from '@tintype/crds/identifiers/ids'
import { Label } from '@tintype/crds/identifiers/names'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import type { FastifyReply } from 'fastify'
import { ApiError } from '../../common/errors.ts'
import type { Idempotency } from '../../creation/idempotency.ts'
import { NO_STORE } from '../../http/response-headers.ts'
import type { Input } from '../../http/route.ts'
import type { LinkKeySource, RecordStore } from '../../store/ports.ts'
import { createOnce } from '../shared/create-once.ts'
import { type OffsetQuery, toCountedList } from '../shared/offset-page.ts'
import { assertBelowLimit, type ById, changeLatest, deleteOwn, findOwn, findOwnLatest, sendRecord, tagOf } from '../shared/owned-records.ts'
import type { RotateBody } from '../shared/rotation.ts'
import type { CreateKeyBody, UpdateKeyBody } from './bodies.ts'
import { assertCanGrant, assertCanManage, assertCanSignLinks, buildApiKey, toKeyPatch, toKeyRotation, toKeyTouch } from './key-object.ts'
import { toWholePolicy } from './link-policy.ts'
import { linkSecretOf, toLinkSecretRotation } from './link-secrets.ts'
import { toKeyRecord } from './record.ts'
import { findReplacementKey, type KeyUpdate } from './replacement.ts'

export interface KeysDeps {
  apiKeys: RecordStore<ApiKey>
  idempotency: Idempotency
  linkKey: LinkKeySource
  /** Maximum keys per account. */
  maxKeys: number
  now: () => Date
}

const WHAT = 'API key'

const pathOf = (key: ApiKey): string => `/api/v1/keys/${apiKeyIdOf(key.metadata)}`

export async function createKey(input: Input<object, CreateKeyBody>, deps: KeysDeps): Promise<FastifyReply> {
  const { request, body } = input
  const now = deps.now()
  assertCanGrant(request.apiKey, body.scopes)
  const creation = {
    route: 'POST /keys',
    prefix: 'key',
    store: deps.apiKeys,
    make: (id: string) => makeKey(id, body, request.accountName, deps),
    toRecord: (key: ApiKey) => toKeyRecord(key, now),
    message: 'API key created successfully',
    replayedMessage: 'API key created by an earlier request. Its text is shown only once: rotate the key to get a new one',
  } as const
  return createOnce(input, creation, deps)
}

/** Creates a key. Its text is returned and never stored. */
async function makeKey(id: string, body: CreateKeyBody, accountName: string, deps: KeysDeps) {
  assertBelowLimit(deps.apiKeys.ofAccount(accountName).length, deps.maxKeys, 'API keys')
  const now = deps.now()
  const text = newKeyText()
  const created = await deps.apiKeys.create(buildApiKey(body, { id, accountName, text, now }))
  const isOurs = created.metadata.labels?.[Label.keyHash1] === keyHash(text)
  return { created, secret: isOurs ? { key: text } : undefined }
}

export function listKeys({ request, query }: Input<object, undefined, OffsetQuery>, { apiKeys, now }: KeysDeps) {
  const selected = apiKeys.ofAccount(request.accountName).filter(({ spec }) => query.include_inactive || spec.active !== false)
  return toCountedList(selected, query, (key) => toKeyRecord(key, now()))
}

export async function readKey(input: Input<ById>, { apiKeys, now }: KeysDeps): Promise<FastifyReply> {
  const key = await findOwn(input, apiKeys, WHAT)
  return sendRecord(input, key, { success: true, data: toKeyRecord(key, now()) })
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

export async function updateKey(input: Input<ById, UpdateKeyBody>, deps: KeysDeps): Promise<FastifyReply> {
  const { request, reply, body } = input
  const now = deps.now()
  const changed = await changeLatest({
    condition: request.headers['if-match'],
    read: () => findOwnLatest(input, deps.apiKeys, WHAT),
    change: async (key) => {
      assertCanGrant(request.apiKey, body.scopes ?? [])
      return changeSafely(input, key, body, deps, () => deps.apiKeys.patch(key, toKeyPatch(body, key, now)))
    },
  })
  return reply.header('etag', tagOf(changed)).send({ message: 'API key updated successfully', data: toKeyRecord(changed, now) })
}

/** PUT replaces the link policy as a whole. */
export function replaceFields({ body, ...input }: Input<ById, UpdateKeyBody>, deps: KeysDeps): Promise<FastifyReply> {
  const { link_policy: policy } = body
  return updateKey({ ...input, body: policy ? { ...body, link_policy: toWholePolicy(policy) } : body }, deps)
}

export const deleteKey = (input: Input<ById>, deps: KeysDeps): Promise<FastifyReply> =>
  deleteOwn(input, deps.apiKeys, WHAT, (key) => changeSafely(input, key, 'delete', deps, () => deps.apiKeys.delete(key)))

export async function rotateKey(input: Input<ById, RotateBody>, { apiKeys, now }: KeysDeps): Promise<FastifyReply> {
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
export async function readLinkSecret(input: Input<ById>, { apiKeys, linkKey }: KeysDeps): Promise<FastifyReply> {
  const key = await findOwnLatest(input, apiKeys, WHAT)
  assertCanSignLinks(input.request.apiKey, key)
  const data = { key: input.params.id, link_secret: linkSecretOf(key, linkKey()) }
  return input.reply.headers(NO_STORE).send({ message: 'Link secret derived successfully', data })
}

export async function rotateLinkSecret(input: Input<ById, RotateBody>, { apiKeys, linkKey, now }: KeysDeps): Promise<FastifyReply> {
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
