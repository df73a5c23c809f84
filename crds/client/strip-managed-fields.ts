import type { KubeObject } from './kube-object.ts'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** An object without managedFields and kubectl's last-applied annotation, which together are half of its size. */
export function stripManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields, annotations, ...metadata } = object.metadata
  if (managedFields === undefined && annotations?.[LAST_APPLIED] === undefined) return object
  const { [LAST_APPLIED]: _, ...kept } = annotations ?? {}
  return { ...object, metadata: { ...metadata, ...(annotations ? { annotations: kept } : {}) } }
}
