import type { Identified } from '@tintype/crds/ids'
import { accountOf } from '@tintype/crds/record'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, notFound } from '../../errors.ts'
import type { RecordStore } from '../../store/ports.ts'
import { hasTag, recordTag } from '../../translate/etag.ts'

// What the routes of keys and webhooks have in common.

/** A kind that clients manage. */
export interface Managed {
  metadata: Identified & { resourceVersion: string }
  spec: { accountName?: string | undefined }
}

export interface Query {
  Querystring: Record<string, unknown>
}

export interface ById extends Query {
  Params: { id: string }
}

/** For what may be shown again. */
export const FRESH = { 'cache-control': 'private, no-cache' }
/** For answers that hold a secret. */
export const SECRET = { 'cache-control': 'private, no-store' }

export const tagOf = ({ metadata }: Managed): string => recordTag(metadata.resourceVersion, undefined)

/** A foreign record is as unknown as none. @throws ApiError NOT_FOUND */
export function requireOwn<T extends Managed>(found: T | undefined, accountName: string, what: string): T {
  if (!found || accountOf(found) !== accountName) throw notFound(what)
  return found
}

/** Answers a GET: 304 when the client has this version already. */
export function answerRecord({ headers }: FastifyRequest<ById>, reply: FastifyReply, record: Managed, body: unknown): FastifyReply {
  const tag = tagOf(record)
  reply.headers({ ...FRESH, etag: tag })
  return hasTag(headers['if-none-match'], tag) ? reply.code(304).send() : reply.send(body)
}

/** Bounds what an account may have. @throws ApiError LIMIT_REACHED */
export function requireRoom(count: number, limit: number, what: string): void {
  if (count < limit) return
  throw new ApiError('LIMIT_REACHED', `the account has ${limit} ${what} already, the most that it may have`, { details: { limit } })
}

/**
 * Changes a record under the client's condition: with If-Match nothing happens unless the version is the one that the client knows.
 * @throws ApiError PRECONDITION_FAILED
 */
export async function changeIfMatch<T extends Managed, R>(
  condition: string | undefined,
  record: T,
  change: (isVersionBound: boolean) => Promise<R>,
): Promise<R> {
  if (condition === undefined || condition.trim() === '*') return change(false)
  const failed = (cause?: unknown) => new ApiError('PRECONDITION_FAILED', 'the record has changed', { cause })
  if (!hasTag(condition, tagOf(record))) throw failed()
  try {
    return await change(true)
  } catch (error) {
    if (error instanceof ApiError && error.code === 'CONFLICT') throw failed(error)
    throw error
  }
}

const MAX_TRIES = 5

/** Changes a record in a way that rests on what it is; begins again when somebody else, such as a counter, was quicker. */
export async function changeLatest<T extends Managed>(read: () => Promise<T>, change: (record: T) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    const record = await read()
    try {
      return await change(record)
    } catch (error) {
      const isLost = error instanceof ApiError && error.code === 'CONFLICT' && error.cause !== undefined
      if (!isLost || tries === MAX_TRIES) throw error
    }
  }
}

/** The latest state of the caller's own record. @throws ApiError NOT_FOUND */
export async function findOwnLatest<T extends Managed>(
  { params, accountName }: FastifyRequest<ById>,
  store: Pick<RecordStore<T>, 'findLatest'>,
  what: string,
): Promise<T> {
  return requireOwn(await store.findLatest(params.id), accountName, what)
}
