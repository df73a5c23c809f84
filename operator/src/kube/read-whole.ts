import { toWhole } from '@tintype/crds/client/cached-form'
import type { KubeObject } from '@tintype/crds/client/kube-object'
import type { Resource } from '@tintype/crds/client/resource'
import { accountOf } from '@tintype/crds/records/record'
import { isWhole, type Whole } from '@tintype/crds/schema/custom-resource'
import { RetryableError } from '../controller-runtime/errors.ts'
import { KeyedLimiter } from '../controller-runtime/keyed-limiter.ts'

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
