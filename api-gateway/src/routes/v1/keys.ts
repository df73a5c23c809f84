import { randomBytes } from 'node:crypto'
import { keyHash, newKeyText } from '@tintype/crds/crypto/key-text'
import { seal } from '@tintype/crds/crypto/sealed'
import { apiKeyIdOf } from '@tintype/crds/identifiers/ids'
import { Label, toObjectName } from '@tintype/crds/identifiers/names'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../common/errors.ts'
import type { Idempotency } from '../../creation/idempotency.ts'
import type { RecordStore, SealingKeySource } from '../../store/ports.ts'
import { RotateBody } from '../../translate/common/fields.ts'
import { assertNoQuery, parseOffsetQuery, toCountedPage } from '../../translate/common/query.ts'
import { readBody } from '../../translate/common/read-body.ts'
import { isLenient } from '../../translate/common/request-headers.ts'
import { type CreateKeyBody, parseCreateKey, parseUpdateKey } from '../../translate/keys/key-body.ts'
import { assertCanGrant, assertCanManage, buildApiKey, toKeyPatch, toKeyRotation, toKeyTouch } from '../../translate/keys/key-object.ts'
import { toKeyRecord } from '../../translate/keys/key-record.ts'
import { findReplacementKey, type KeyUpdate } from '../../translate/keys/key-replacement.ts'
import { createOnce } from './create-once.ts'
import { addRecordRoutes } from './record-routes.ts'
import {
  assertBelowLimit,
  assertOwned,
  type ById,
  changeLatest,
  FRESH,
  findOwnLatest,
  type Query,
  SECRET,
  sendRecord,
  tagOf,
} from './records.ts'
import { setIgnoredOptionsHeader } from './response-headers.ts'

/** Dependencies of the key routes. */
export interface KeysDeps {
  apiKeys: RecordStore<ApiKey>
  idempotency: Idempotency
  sealingKey: SealingKeySource
  /** Maximum keys per account. */
  maxKeys: number
  now: () => Date
}

const WHAT = 'API key'
const LINK_SECRET_BYTES = 32

const pathOf = (key: ApiKey): string => `/api/v1/keys/${apiKeyIdOf(key.metadata)}`

async function createOne(request: FastifyRequest<Query>, reply: FastifyReply, deps: KeysDeps): Promise<FastifyReply> {
  assertNoQuery(request.query)
  const now = deps.now()
  const { body, ignored } = parseCreateKey(request.body, now, isLenient(request.headers.prefer))
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
  return createOnce(request, setIgnoredOptionsHeader(reply, ignored), creation, deps)
}

/** Creates a key. Its text is returned and never stored. */
async function makeKey(id: string, body: CreateKeyBody, accountName: string, deps: KeysDeps) {
  assertBelowLimit(deps.apiKeys.ofAccount(accountName).length, deps.maxKeys, 'API keys')
  const now = deps.now()
  const text = newKeyText()
  const linkSecret = randomBytes(LINK_SECRET_BYTES).toString('base64url')
  const sealedFor = { purpose: 'link-secret', subject: toObjectName(id), account: accountName } as const
  const sealedLinkSecret = await seal(linkSecret, sealedFor, deps.sealingKey())
  const created = await deps.apiKeys.create(buildApiKey(body, { id, accountName, text, sealedLinkSecret, now }))
  const isOurs = created.metadata.labels?.[Label.keyHash1] === keyHash(text)
  return { created, secret: isOurs ? { key: text } : undefined }
}

function readMany(request: FastifyRequest<Query>, { apiKeys, now }: KeysDeps) {
  const query = parseOffsetQuery(request.query)
  const selected = apiKeys.ofAccount(request.accountName).filter(({ spec }) => query.includeInactive || spec.active !== false)
  const { items, pagination } = toCountedPage(selected, query)
  return { success: true, data: items.map((key) => toKeyRecord(key, now())), pagination }
}

async function readOne(request: FastifyRequest<ById>, reply: FastifyReply, { apiKeys, now }: KeysDeps): Promise<FastifyReply> {
  assertNoQuery(request.query)
  const key = assertOwned(await apiKeys.find(request.params.id), request.accountName, WHAT)
  return sendRecord(request, reply, key, { success: true, data: toKeyRecord(key, now()) })
}

/**
 * Changes a key if another key can still manage the account's keys. That replacement key is written first, with its resource version as a
 * precondition. If two requests remove each other's replacement key, one of them gets a conflict and evaluates again.
 */
async function changeSafely<R>(
  request: FastifyRequest<ById>,
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

async function updateOne(request: FastifyRequest<ById>, reply: FastifyReply, deps: KeysDeps): Promise<FastifyReply> {
  assertNoQuery(request.query)
  const now = deps.now()
  const { body, ignored } = parseUpdateKey(request.body, now, isLenient(request.headers.prefer))
  const changed = await changeLatest({
    condition: request.headers['if-match'],
    read: () => findOwnLatest(request, deps.apiKeys, WHAT),
    change: async (key) => {
      assertCanGrant(request.apiKey, body.scopes ?? [])
      return changeSafely(request, key, body, deps, () => deps.apiKeys.patch(key, toKeyPatch(body, now)))
    },
  })
  setIgnoredOptionsHeader(reply, ignored).headers({ ...FRESH, etag: tagOf(changed) })
  return reply.send({ message: 'API key updated successfully', data: toKeyRecord(changed, now) })
}

async function deleteOne(request: FastifyRequest<ById>, reply: FastifyReply, deps: KeysDeps): Promise<FastifyReply> {
  assertNoQuery(request.query)
  await changeLatest({
    condition: request.headers['if-match'],
    read: () => findOwnLatest(request, deps.apiKeys, WHAT),
    change: (key) => changeSafely(request, key, 'delete', deps, () => deps.apiKeys.delete(key)),
  })
  return reply.code(204).send()
}

async function rotateOne(request: FastifyRequest<ById>, reply: FastifyReply, { apiKeys, now }: KeysDeps): Promise<FastifyReply> {
  assertNoQuery(request.query)
  const { body, ignored } = readBody(RotateBody, request.body === undefined ? {} : request.body, {
    lenient: isLenient(request.headers.prefer),
  })
  const text = newKeyText()
  const rotated = await changeLatest({
    read: () => findOwnLatest(request, apiKeys, WHAT),
    change: async (key) => {
      assertCanManage(request.apiKey, key)
      return apiKeys.patch(key, toKeyRotation(key, text, body, now()))
    },
  })
  setIgnoredOptionsHeader(reply, ignored).headers({ ...SECRET, location: pathOf(rotated), etag: tagOf(rotated) })
  return reply.code(201).send({ message: 'API key rotated successfully', data: { ...toKeyRecord(rotated, now()), key: text } })
}

/** Routes of API keys. */
export function addKeyRoutes(app: FastifyInstance, deps: KeysDeps): void {
  addRecordRoutes(app, 'keys', {
    createOne: (request, reply) => createOne(request, reply, deps),
    readMany: (request) => readMany(request, deps),
    readOne: (request, reply) => readOne(request, reply, deps),
    updateOne: (request, reply) => updateOne(request, reply, deps),
    deleteOne: (request, reply) => deleteOne(request, reply, deps),
  })
  app.post<ById>('/keys/:id/rotate', { config: { scope: 'keys:write' } }, (request, reply) => rotateOne(request, reply, deps))
}
