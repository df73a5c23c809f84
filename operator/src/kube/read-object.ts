import { toWhole } from '@tintype/crds/client/cached-form'
import { type KubeObject, keyOf, type ObjectKey } from '@tintype/crds/client/kube-object'
import type { Lister } from '@tintype/crds/client/lister'
import type { Resource } from '@tintype/crds/client/resource'
import { accountOf } from '@tintype/crds/records/record'
import { type Condition, ConditionType, findCondition, isSameCondition, setCondition } from '@tintype/crds/schema/conditions'
import { isBeingDeleted, isWhole, type Whole } from '@tintype/crds/schema/custom-resource'
import { RetryableError, TerminalError } from '../controller-runtime/controller.ts'
import { KeyedLimiter } from '../controller-runtime/keyed-limiter.ts'
import { type Patcher, patchStatus } from './clients.ts'

/** The part of a zod schema that is used here. */
interface Schema<T> {
  safeParse: (object: unknown) => { success: true; data: T } | { success: false; error: unknown }
}

const read = new WeakMap<KubeObject, WeakRef<object>>()

/**
 * Parses an object of an informer cache with the schema of its kind. Cached objects are replaced but never changed, and several controllers read
 * the same Screenshot for its capture, its queue and its deliveries. So the result is kept until the next garbage collection. To keep it longer
 * would double the memory of all objects.
 * @throws TerminalError InvalidObject
 */
export function readObject<T extends KubeObject>(kind: string, schema: Schema<T>, object: T): T {
  const known = read.get(object)?.deref()
  if (known) return known as T
  const parsed = schema.safeParse(object)
  if (!parsed.success)
    throw new TerminalError('InvalidObject', `the ${kind} ${keyOf(object)} does not match its schema`, { cause: parsed.error })
  read.set(object, new WeakRef(parsed.data))
  return parsed.data
}

// Large options, which the informer caches leave out. They are read from the API server when they are needed.

type Owned = KubeObject & { spec: { accountName?: string | undefined } }

/** A client that reads objects of a kind. */
export type Finder<T extends KubeObject> = Pick<Resource<T>, 'find'>

/** Large objects in memory at a time, in total and of one account. Each needs several times its size. */
const turns = new KeyedLimiter({ total: 4, perKey: 2 })

/**
 * Reads what a cache leaves out of an object. Undefined: it was deleted, or its spec has changed since, which the watch reports.
 * @throws KubeError
 */
export async function readWhole<T extends KubeObject>(cached: T, client: Finder<T>): Promise<Whole<T> | undefined> {
  if (isWhole(cached)) return cached
  const { name, uid, generation } = cached.metadata
  const stored = await client.find(name)
  return stored?.metadata.uid === uid && stored?.metadata.generation === generation ? toWhole(cached, stored!) : undefined
}

/**
 * Calls `act` with all options of an object. For few large ones at a time, so that they do not fill the process.
 * @throws RetryableError if the object was deleted or has changed; KubeError
 */
export async function withWhole<T extends Owned, R>(cached: T, client: Finder<T>, act: (whole: Whole<T>) => Promise<R>): Promise<R> {
  if (isWhole(cached)) return act(cached)
  return inTurn(cached, async () => {
    const whole = await readWhole(cached, client)
    if (!whole) throw new RetryableError(`${cached.metadata.name} was deleted or has changed`)
    return act(whole)
  })
}

/** Calls `act`, which needs the memory of a large object. */
export const inTurn = <R>(object: Owned, act: () => Promise<R>): Promise<R> => turns.run(accountOf(object), act)

type Conditioned = KubeObject & { status?: { conditions?: readonly Condition[] | undefined } | undefined }

interface Kind<T extends KubeObject> {
  lister: Pick<Lister<T>, 'get'>
  client: Patcher<T>
  /** Fields of the status that are not true of a deleted object, as null. */
  outdated?: object
}

/**
 * The object of a key from the informer cache, undefined if it was deleted. If finalizers keep it, its condition Ready says that it does nothing any
 * more.
 */
export async function findLive<T extends Conditioned>(key: ObjectKey, kind: Kind<T>, now: Date): Promise<T | undefined> {
  const object = kind.lister.get(key)
  if (!object || !isBeingDeleted(object)) return object
  const known = object.status?.conditions ?? []
  const message = 'It was deleted, and does nothing any more. It is kept by what metadata.finalizers names.'
  const observedGeneration = object.metadata.generation ?? 0
  const conditions = setCondition(
    known,
    { type: ConditionType.ready, status: 'False', reason: 'Deleting', message, observedGeneration },
    now,
  )
  if (!isSameCondition(findCondition(known, ConditionType.ready), conditions.at(-1)))
    await patchStatus(kind.client, object, { conditions, ...kind.outdated })
  return undefined
}
