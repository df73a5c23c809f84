import { type IdPrefix, newId } from '@tintype/crds/identifiers/ids'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { carryOut, type Idempotency, type IdempotentExecution, parseIdempotencyKey } from '../../creation/idempotency.ts'
import { NO_STORE, setReplayedHeader } from '../../http/response-headers.ts'
import type { Input } from '../../http/route.ts'
import type { RecordStore } from '../../store/ports.ts'
import { type Managed, tagOf } from './owned-records.ts'

// Creates a key or a webhook. Only the first response contains its secret. A repeated request with the same Idempotency-Key gets the record without
// the secret, and a message about it.

interface Creation<T extends Managed> {
  /** `POST /keys` */
  route: string
  prefix: IdPrefix
  store: Pick<RecordStore<T>, 'findLatest'>
  /** Creates the object with this id. Returns no secret when another process created it first. */
  make: (id: string) => Promise<{ created: T; secret: Record<string, string> | undefined }>
  toRecord: (object: T) => Record<string, unknown> & { id: string }
  message: string
  /** Message of a replayed response, if it is another one. */
  replayedMessage?: string
}

interface OnceDeps {
  idempotency: Idempotency
  now: () => Date
}

/** Creates an object at most once, and responds to every repetition. */
export async function createOnce<T extends Managed>(
  { request, reply }: Pick<Input, 'request' | 'reply'>,
  creation: Creation<T>,
  { idempotency, now }: OnceDeps,
): Promise<FastifyReply> {
  const { accountName } = request
  const { route, prefix, toRecord, message, replayedMessage = message } = creation
  const at = now()
  const execution = await idempotency.begin({
    account: accountName,
    key: parseIdempotencyKey(request.headers['idempotency-key']),
    route,
    body: request.body,
    newPlan: () => ({ reservation: newId('res', at), at: at.toISOString(), ids: [newId(prefix, at)] }),
  })
  const [id = ''] = execution.plan.ids
  const replay = (data: { id: string }) =>
    sendCreated(request, setReplayedHeader(reply, { isRepeated: true }), { message: replayedMessage, data })
  const known = execution.isRepeated ? await findKnown(execution, id, creation) : undefined
  if (known) return replay(known)
  const { created, secret } = await carryOut(execution, () => creation.make(id))
  const data = toRecord(created)
  await execution.complete(data)
  if (!secret) return replay(data)
  reply.header('etag', tagOf(created))
  return sendCreated(request, reply, { message, data: { ...data, ...secret } })
}

/** The object of an earlier request. Undefined when that request crashed before the create. */
async function findKnown<T extends Managed>({ result }: IdempotentExecution, id: string, { store, toRecord }: Creation<T>) {
  if (hasId(result, id)) return result as ReturnType<typeof toRecord>
  const found = await store.findLatest(id)
  return found && toRecord(found)
}

const hasId = (result: unknown, id: string): boolean => typeof result === 'object' && result !== null && 'id' in result && result.id === id

function sendCreated({ routeOptions }: FastifyRequest, reply: FastifyReply, body: { message: string; data: { id: string } }): FastifyReply {
  const collection = routeOptions.url?.split('/').at(-1)
  return reply
    .code(201)
    .headers({ ...NO_STORE, location: `/api/v1/${collection}/${body.data.id}` })
    .send(body)
}
