import { isNotFound } from '@tintype/crds/client/kube-error'
import type { KubeObject } from '@tintype/crds/client/kube-object'
import { mergePatch, type Resource } from '@tintype/crds/client/resource'

interface PatchOptions {
  subresource?: 'status'
  signal?: AbortSignal | undefined
}

/** A client that writes objects of a kind. */
export type Patcher<T extends KubeObject> = Pick<Resource<T>, 'patch'>

/**
 * Writes a merge patch to an object that has not changed since it was read. Returns the object as it was written; undefined if it was
 * deleted. @throws KubeError Conflict if it has changed: the controller reconciles it again
 */
export async function patchSeen<T extends KubeObject>(
  client: Patcher<T>,
  { metadata: { name, resourceVersion } }: KubeObject,
  body: object,
  options: PatchOptions = {},
): Promise<T | undefined> {
  try {
    return await client.patch(name, mergePatch({ ...body }, { resourceVersion }), options)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** The same for the status. */
export const patchStatus = <T extends KubeObject>(
  client: Patcher<T>,
  object: KubeObject,
  status: object,
  signal?: AbortSignal,
): Promise<T | undefined> => patchSeen(client, object, { status }, { subresource: 'status', signal })
