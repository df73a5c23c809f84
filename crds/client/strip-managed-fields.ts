import type { KubeObject } from './kube-object.ts'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** Removes managedFields and kubectl's last-applied annotation, which together are half of an object's size. */
export function stripManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields, annotations, ...metadata } = object.metadata
  if (managedFields === undefined && annotations?.[LAST_APPLIED] === undefined) return object
  const { [LAST_APPLIED]: _, ...kept } = annotations ?? {}
  return { ...object, metadata: { ...metadata, ...(annotations ? { annotations: kept } : {}) } }
}
