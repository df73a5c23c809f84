/** Who owns an object; with `controller: true` the owner is the one that manages it. */
export type OwnerReference = {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean | undefined
  blockOwnerDeletion?: boolean | undefined
}

/** The part of an object that every kind has, as the API server sends it: times are ISO strings. */
export type ObjectMeta = {
  name: string
  namespace?: string | undefined
  generateName?: string | undefined
  uid?: string | undefined
  resourceVersion?: string | undefined
  generation?: number | undefined
  creationTimestamp?: string | undefined
  deletionTimestamp?: string | undefined
  labels?: Record<string, string> | undefined
  annotations?: Record<string, string> | undefined
  ownerReferences?: OwnerReference[] | undefined
  finalizers?: string[] | undefined
  managedFields?: unknown[] | undefined
}

/** The least that the client knows of an object of any kind. */
export type KubeObject = {
  apiVersion?: string | undefined
  kind?: string | undefined
  metadata: ObjectMeta
}

/** `namespace/name`, or `name` alone for a kind without namespaces. */
export type ObjectKey = string

/** The key of an object in listers and work queues. */
export function keyOf(object: KubeObject): ObjectKey {
  const { namespace, name } = object.metadata
  return namespace ? `${namespace}/${name}` : name
}

/** The parts of a key made by `keyOf`. */
export function splitKey(key: ObjectKey): { namespace?: string; name: string } {
  const slash = key.indexOf('/')
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/**
 * The object's resourceVersion as a number, 0 when it has none.
 * Kubernetes calls it opaque, but since 1.35 promises that versions of one resource compare as integers, and API servers always kept to it.
 */
export function resourceVersionOf(object: KubeObject): number {
  return Number(object.metadata.resourceVersion ?? 0)
}
