/** An owner of an object. With `controller: true`, the owner manages the object. */
export type OwnerReference = {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean | undefined
  blockOwnerDeletion?: boolean | undefined
}

/** The metadata of every kind, as the API server sends it, with times as ISO strings. */
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
  /** Only in objects of a cache: the beginnings of the options that it leaves out, by name ({@link import('./cached-form.ts')}). */
  leftOut?: Record<string, string> | undefined
}

/** The common part of objects of all kinds. */
export type KubeObject = {
  apiVersion?: string | undefined
  kind?: string | undefined
  metadata: ObjectMeta
}

/** `namespace/name`, or `name` for a kind without namespaces. */
export type ObjectKey = string

/** The key of an object in listers and work queues. */
export function keyOf(object: KubeObject): ObjectKey {
  const { namespace, name } = object.metadata
  return namespace ? `${namespace}/${name}` : name
}

/** Splits a key of `keyOf`. */
export function splitKey(key: ObjectKey): { namespace?: string; name: string } {
  const slash = key.indexOf('/')
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/**
 * The object's resourceVersion as a number; 0 if it has none.
 * Since 1.35, Kubernetes guarantees that versions of one resource compare as integers. Earlier API servers behave the same, although the
 * documentation called the version opaque.
 */
export function resourceVersionOf(object: KubeObject): number {
  return Number(object.metadata.resourceVersion ?? 0)
}
