import type { KubeObject, ObjectKey } from '@tintype/crds/client/kube-object'
import type { Lister } from '@tintype/crds/client/lister'
import { type Condition, ConditionType, findCondition, isSameCondition, setCondition } from '@tintype/crds/schema/conditions'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import { type Patcher, patchStatus } from './patch-seen.ts'

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
