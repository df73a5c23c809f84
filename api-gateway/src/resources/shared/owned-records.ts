import { type Identified, type IdPrefix, newId } from '@tintype/crds/identifiers/ids'
import { accountOf } from '@tintype/crds/records/record'
import type { Whole } from '@tintype/crds/schema/custom-resource'
import type { HttpErrorCode } from '@tintype/crds/schema/errors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { ApiError, notFound } from '../../common/errors.ts'
import { carryOut, type Idempotency } from '../../creation/idempotency.ts'
import type { BodyReader } from '../../http/body.ts'
import { dataBody, listBody, messageBody, namedSchemas } from '../../http/fields.ts'
import { hasTag, hasVersion, NO_STORE, setReplayedHeader, versionTag } from '../../http/headers.ts'
import { ifMatch, ifNoneMatch } from '../../http/parameters.ts'
import { type Input, type Link, linkTo, type Route, type routeFor } from '../../http/route.ts'
import type { RecordStore } from '../../store/ports.ts'
import { CountedPagination, type OffsetQuery, offsetQuery, toCountedList } from './offset-page.ts'

// Keys, webhooks and schedules: records that clients create, list, read, change and delete. A kind declares what differs.

/** A kind that clients manage. */
export interface Managed {
  metadata: Identified & { resourceVersion: string; generation?: number | undefined; leftOut?: Record<string, string> | undefined }
  spec: { accountName?: string | undefined }
}

interface OwnedDeps {
  idempotency: Idempotency
  now: () => Date
}

type Fields = Record<string, unknown> & { id: string }

/** A kind of records, its store and its texts. */
export interface OwnedKind<T extends Managed, Deps extends OwnedDeps, Create, Update> {
  /** Names paths, scopes and operations: `key`. */
  word: 'key' | 'webhook' | 'schedule'
  /** Name in messages: `API key`. */
  what: string
  /** Name in summaries: `an API key`. */
  noun: string
  prefix: IdPrefix
  storeOf: (deps: Deps) => RecordStore<T>
  toRecord: (object: T, now: Date) => Fields
  /** Lists leave out inactive records, unless a client wants them. Absent: they list every record. */
  isActive?: (object: T) => boolean
  /** What the response to a GET has beside the record. */
  readMore?: (object: T, deps: Deps) => Promise<object>
  /**
   * Checks a request, then returns a function that creates the object with an id. That function returns no secret when another process created
   * the object first.
   */
  create: (input: Input<object, Create>, deps: Deps) => (id: string) => Promise<{ created: T; secret: Record<string, string> | undefined }>
  /** Checks a request, then returns a function that changes the latest version of the object. */
  update: (input: Input<ById, Update>, deps: Deps) => Promise<(object: Whole<T>) => Promise<T>>
  /** PUT also exists, and has this body. */
  put?: { description: string; toBody?: (body: Update) => Update }
  /** Absent: the object is deleted. */
  remove?: (object: T, input: Input<ById>, deps: Deps) => Promise<void>
  bodies: { create: BodyReader<Create, Deps>; update: BodyReader<Update, Deps> }
  /** Named schema of the record, and what the responses to a POST and a GET have more. */
  schemas: { record: z.ZodObject; created?: z.ZodObject; found?: z.ZodObject }
  /** A record, and what is different in it after each request. */
  examples: { record: Fields; created?: object; updated: object; found?: object }
  descriptions: { create: string; update: string; remove: string; found: string; response: string; read: string }
  /** Message of a replayed creation, if it is another one. */
  replayedMessage?: string
  /** Operations that follow a creation, beside reads, changes and the deletion. */
  links?: Readonly<Record<string, Link>>
  /** Error codes beside those that every kind has. */
  errors: { create: readonly HttpErrorCode[]; update: readonly HttpErrorCode[]; remove: readonly HttpErrorCode[] }
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

const capitalize = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`

/** The response to a GET of a record, with 304 when the client already has this version. */
export async function sendFound<T extends Managed, Deps extends OwnedDeps>(
  { request, reply }: Pick<Input, 'request' | 'reply'>,
  object: T,
  { toRecord, readMore }: Pick<OwnedKind<T, Deps, never, never>, 'toRecord' | 'readMore'>,
  deps: Deps,
): Promise<FastifyReply> {
  const data = { ...toRecord(object, deps.now()), ...(await readMore?.(object, deps)) }
  const tag = tagOf(object)
  reply.header('etag', tag)
  return hasTag(request.headers['if-none-match'], tag) ? reply.code(304).send() : reply.send({ success: true, data })
}

/**
 * The routes of a kind: `collection` are those of its list, `one` those of a record. `found` is the schema of the response to a GET.
 * @param route declares a route with the tag of the kind
 */
export function ownedRoutes<T extends Managed, Deps extends OwnedDeps, Create, Update>(
  route: ReturnType<typeof routeFor<Deps>>,
  kind: OwnedKind<T, Deps, Create, Update>,
): { collection: Route<Deps>[]; one: Route<Deps>[]; found: z.ZodType } {
  const { word, what, noun, storeOf, toRecord, isActive, bodies, schemas, examples, descriptions, errors, put } = kind
  const Word = capitalize(word)
  const schemaName = namedSchemas.get(schemas.record)?.id
  const messages = { created: `${capitalize(what)} created successfully`, updated: `${capitalize(what)} updated successfully` }
  const found = dataBody(`${schemaName}Found`, schemas.found ?? schemas.record, descriptions.response)
  const pagination = { limit: 100, offset: 0, total: 1, has_more: false }
  const { include_inactive: _, ...pageQuery } = offsetQuery

  const list = ({ request, query }: Input<object, undefined, Partial<OffsetQuery>>, deps: Deps) => {
    const all = storeOf(deps).ofAccount(request.accountName)
    const listed = isActive && !query.include_inactive ? all.filter(isActive) : all
    return toCountedList(listed, query as OffsetQuery, (object) => toRecord(object, deps.now()))
  }
  const update = async (input: Input<ById, Update>, deps: Deps) => {
    const { request, reply } = input
    const changed = await changeLatest({
      condition: request.headers['if-match'],
      change: await kind.update(input, deps),
      read: () => findOwnLatest(input, storeOf(deps), what),
    })
    return reply.header('etag', tagOf(changed)).send({ message: messages.updated, data: toRecord(changed, deps.now()) })
  }
  const remove = async (input: Input<ById>, deps: Deps) => {
    const store = storeOf(deps)
    await changeLatest({
      condition: input.request.headers['if-match'],
      read: () => findOwnLatest(input, store, what),
      change: (object) => (kind.remove ? kind.remove(object, input, deps) : store.delete(object)),
    })
    return input.reply.code(204).send()
  }
  const change = {
    scope: `${word}s:write`,
    parameters: [ifMatch],
    body: bodies.update,
    responses: {
      200: {
        description: 'Changed.',
        schema: messageBody(`${schemaName}Changed`, schemas.record, `The updated ${word}.`),
        example: { message: messages.updated, data: { ...examples.record, ...examples.updated } },
      },
    },
    errors: [...errors.update, 'CONFLICT'],
  } as const
  const collection = [
    route(`POST /${word}s`, {
      id: `create${Word}`,
      scope: `${word}s:write`,
      summary: `Create ${noun}`,
      description: descriptions.create,
      isKeyed: true,
      body: bodies.create,
      responses: {
        201: {
          description: 'Created.',
          schema: messageBody(`${schemaName}Created`, schemas.created ?? schemas.record, `The created ${word}.`),
          example: { message: messages.created, data: { ...examples.record, ...examples.created } },
          headers: ['Location', 'ETag'],
          links: {
            read: linkTo(`get${Word}`, descriptions.read),
            update: linkTo(`update${Word}`, 'Changes it.'),
            ...kind.links,
            remove: linkTo(`delete${Word}`, 'Deletes it.'),
          },
        },
      },
      errors: [...errors.create, 'LIMIT_REACHED', 'CONFLICT'],
      handle: (input, deps) => createOnce(input, { ...kind, message: messages.created }, deps),
    }),
    route(`GET /${word}s`, {
      id: `list${Word}s`,
      scope: `${word}s:read`,
      summary: `List ${noun.replace(/^an? /, '')}s`,
      query: isActive ? offsetQuery : pageQuery,
      responses: {
        200: {
          description: `One page of ${what}s.`,
          schema: listBody(`${schemaName}List`, schemas.record, CountedPagination, `One page of ${word}s, oldest first.`),
          example: { success: true, data: [examples.record], pagination },
        },
      },
      handle: list,
    }),
  ]
  const one = [
    route(`GET /${word}s/{id}`, {
      id: `get${Word}`,
      scope: `${word}s:read`,
      summary: `Read ${noun}`,
      parameters: [ifNoneMatch],
      responses: {
        200: {
          description: descriptions.found,
          schema: found,
          example: { success: true, data: { ...examples.record, ...examples.found } },
        },
      },
      handle: async (input, deps) => sendFound(input, await findOwn(input, storeOf(deps), what), kind, deps),
    }),
    route(`PATCH /${word}s/{id}`, {
      ...change,
      id: `update${Word}`,
      summary: `Update ${noun}`,
      description: descriptions.update,
      handle: update,
    }),
    ...(put
      ? [
          route(`PUT /${word}s/{id}`, {
            ...change,
            id: `put${Word}`,
            summary: `Update ${noun} (PUT)`,
            description: put.description,
            handle: (input, deps) => update({ ...input, body: put.toBody?.(input.body) ?? input.body }, deps),
          }),
        ]
      : []),
    route(`DELETE /${word}s/{id}`, {
      id: `delete${Word}`,
      scope: `${word}s:write`,
      summary: `Delete ${noun}`,
      description: descriptions.remove,
      parameters: [ifMatch],
      responses: { 204: { description: 'Deleted.' } },
      errors: [...errors.remove, 'CONFLICT'],
      handle: remove,
    }),
  ]
  return { collection, one, found }
}

/**
 * Creates an object at most once. Only the first response contains its secret. A repeated request with the same Idempotency-Key gets the record
 * without the secret, and a message about it.
 */
async function createOnce<T extends Managed, Deps extends OwnedDeps, Create>(
  input: Input<object, Create>,
  creation: Pick<OwnedKind<T, Deps, Create, never>, 'word' | 'prefix' | 'storeOf' | 'toRecord' | 'create' | 'replayedMessage'> & {
    message: string
  },
  deps: Deps,
): Promise<FastifyReply> {
  const { request, reply } = input
  const { word, prefix, storeOf, toRecord, message, replayedMessage = message } = creation
  const make = creation.create(input, deps)
  const at = deps.now()
  const execution = await deps.idempotency.begin({
    account: request.accountName,
    key: request.headers['idempotency-key'],
    route: `POST /${word}s`,
    body: request.body,
    newPlan: () => ({ reservation: newId('res', at), at: at.toISOString(), ids: [newId(prefix, at)] }),
  })
  const [id = ''] = execution.plan.ids
  const send = (body: { message: string; data: Fields }) =>
    reply
      .code(201)
      .headers({ ...NO_STORE, location: `/api/v1/${word}s/${body.data.id}` })
      .send(body)
  const replay = (data: Fields) => {
    setReplayedHeader(reply, { isRepeated: true })
    return send({ message: replayedMessage, data })
  }
  const known = execution.isRepeated ? await findKnown() : undefined
  if (known) return replay(known)
  const { created, secret } = await carryOut(execution, () => make(id))
  const data = toRecord(created, at)
  await execution.complete(data)
  if (!secret) return replay(data)
  reply.header('etag', tagOf(created))
  return send({ message, data: { ...data, ...secret } })

  /** The record of an earlier request. Undefined when that request crashed before the create. */
  async function findKnown(): Promise<Fields | undefined> {
    const { result } = execution
    if (typeof result === 'object' && result !== null && 'id' in result && result.id === id) return result as Fields
    const found = await storeOf(deps).findLatest(id)
    return found && toRecord(found, at)
  }
}
