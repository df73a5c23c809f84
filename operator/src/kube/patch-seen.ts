import { isNotFound } from '@tintype/crds/client/kube-error'
import type { KubeObject } from '@tintype/crds/client/kube-object'
import { mergePatch } from '@tintype/crds/client/patch'
import type { Reflector } from '@tintype/crds/client/reflector'
import type { Resource } from '@tintype/crds/client/resource'

/** Where objects of a kind are written. */
export interface Writer<T extends KubeObject> {
  store: Pick<Resource<T>, 'patch'>
  /** Lets the cache see an own write at once. */
  seen: Pick<Reflector<T>, 'noteWritten'>
}

interface PatchOptions {
  subresource?: 'status'
  signal?: AbortSignal | undefined
}

/**
 * Writes a merge patch to an object that has not changed since it was read. Returns the object as it was written; undefined if it was
 * deleted. @throws KubeError Conflict if it has changed: the controller reconciles it again
 */
export async function patchSeen<T extends KubeObject>(
  { metadata: { name, namespace, resourceVersion } }: KubeObject,
  body: object,
  { store, seen }: Writer<T>,
  options: PatchOptions = {},
): Promise<T | undefined> {
  try {
    const written = await store.patch(name, mergePatch({ ...body }, { resourceVersion }), { namespace, ...options })
    seen.noteWritten(written)
    return written
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** The same for the status. */
export const patchStatus = <T extends KubeObject>(
  object: KubeObject,
  status: object,
  writer: Writer<T>,
  signal?: AbortSignal,
): Promise<T | undefined> => patchSeen(object, { status }, writer, { subresource: 'status', signal })
