import type { Identified } from '@tintype/crds/identifiers/ids'
import { accountOf } from '@tintype/crds/records/record'
import type { Whole } from '@tintype/crds/schema/custom-resource'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, notFound } from '../../common/errors.ts'
import { hasTag, hasVersion, versionTag } from '../../http/etag.ts'
import type { Input } from '../../http/route.ts'
import type { RecordStore } from '../../store/ports.ts'

// Helpers for the routes of keys, webhooks and schedules.

/** A kind that clients manage. */
export interface Managed {
  metadata: Identified & { resourceVersion: string; generation?: number | undefined; leftOut?: Record<string, string> | undefined }
  spec: { accountName?: string | undefined }
}

/** Path parameters of the routes of one record. */
export interface ById {
  id: string
}

interface OwnRequest {
  params: ById
  request: Pick<FastifyRequest, 'accountName'>
}

export const tagOf = ({ metadata }: Managed): string => versionTag(metadata)

/** Treats records of other accounts as missing. @throws ApiError NOT_FOUND */
export function assertOwned<T extends Managed>(found: T | undefined, accountName: string, what: string): T {
  if (!found || accountOf(found) !== accountName) throw notFound(what)
  return found
}

/** Responds to a GET, with 304 when the client already has this version. */
export function sendRecord({ request, reply }: Pick<Input, 'request' | 'reply'>, record: Managed, body: unknown): FastifyReply {
  const tag = tagOf(record)
  reply.header('etag', tag)
  return hasTag(request.headers['if-none-match'], tag) ? reply.code(304).send() : reply.send(body)
}

/** Limits the number of records per account. @throws ApiError LIMIT_REACHED */
export function assertBelowLimit(count: number, limit: number, what: string): void {
  if (count < limit) return
  throw new ApiError('LIMIT_REACHED', `the account has reached its limit of ${limit} ${what}: delete one first`, { details: { limit } })
}

const MAX_TRIES = 5

interface Change<T, R> {
  read: () => Promise<T>
  /** Changes the version that was read. Throws CONFLICT when there is a newer one. */
  change: (record: T) => Promise<R>
  /** The client's If-Match header. */
  condition?: string | undefined
}

/**
 * Read-modify-write of a record. Retries when another writer, such as a counter, was faster.
 * @throws ApiError PRECONDITION_FAILED when the version does not match the client's If-Match
 */
export async function changeLatest<T extends Managed, R>({ read, change, condition }: Change<T, R>): Promise<R> {
  for (let tries = 1; ; tries++) {
    const record = await read()
    if (condition !== undefined && !hasVersion(condition, tagOf(record)))
      throw new ApiError('PRECONDITION_FAILED', 'the record has changed: read it again and retry')
    try {
      return await change(record)
    } catch (error) {
      const isLost = error instanceof ApiError && error.code === 'CONFLICT' && error.cause !== undefined
      if (!isLost || tries === MAX_TRIES) throw error
    }
  }
}

/** The caller's own record. @throws ApiError NOT_FOUND */
export async function findOwn<T extends Managed>(
  { params, request }: OwnRequest,
  store: Pick<RecordStore<T>, 'find'>,
  what: string,
): Promise<Whole<T>> {
  return assertOwned(await store.find(params.id), request.accountName, what)
}

/** The latest state of the caller's own record. @throws ApiError NOT_FOUND */
export async function findOwnLatest<T extends Managed>(
  { params, request }: OwnRequest,
  store: Pick<RecordStore<T>, 'findLatest'>,
  what: string,
): Promise<Whole<T>> {
  return assertOwned(await store.findLatest(params.id), request.accountName, what)
}

/** Deletes the caller's own record, in the version of If-Match if the request has one. @throws ApiError as {@link changeLatest} */
export async function deleteOwn<T extends Managed>(
  input: Input<ById>,
  store: Pick<RecordStore<T>, 'findLatest' | 'delete'>,
  what: string,
  remove: (record: T) => Promise<void> = (record) => store.delete(record),
): Promise<FastifyReply> {
  await changeLatest({
    condition: input.request.headers['if-match'],
    read: () => findOwnLatest(input, store, what),
    change: remove,
  })
  return input.reply.code(204).send()
}
