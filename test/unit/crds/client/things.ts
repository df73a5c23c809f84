import type { KubeObject } from '../../../../crds/client/kube-object.ts'
import { defineResource } from '../../../../crds/client/resource.ts'

/** A sample kind. */
export type Thing = KubeObject & { spec?: { color?: string } }

export const things = defineResource<Thing>({ group: 'test.dev', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true })

/** An object of the sample kind at a resourceVersion. Its uid derives from its name by default. */
export function aThing(name: string, resourceVersion: number, { uid = `uid-${name}`, color = 'red' } = {}): Thing {
  return { metadata: { name, namespace: 'default', uid, resourceVersion: String(resourceVersion) }, spec: { color } }
}
