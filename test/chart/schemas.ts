/**
 * Schemas of the running API server (/openapi/v3) for kubeconform: one file per kind, in which every object rejects unknown fields. This
 * needs no download and includes Tintype's own kinds.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { KubeHttp } from '../../crds/client/kube-http.ts'

/** Value for `kubeconform -schema-location`, relative to the directory of {@link exportSchemas}. */
export const SCHEMA_LOCATION = '{{ .Group }}/{{ .ResourceKind }}-{{ .ResourceAPIVersion }}.json'

interface Schema {
  $ref?: string
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema | boolean
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  'x-kubernetes-preserve-unknown-fields'?: boolean
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[]
}

/** Writes the schemas of all kinds of these groups, each `<group>/<version>`, or `v1` for the core. */
export async function exportSchemas(http: KubeHttp, groupVersions: readonly string[], directory: string): Promise<void> {
  for (const groupVersion of groupVersions) {
    const place = groupVersion.includes('/') ? `apis/${groupVersion}` : `api/${groupVersion}`
    const { components } = await http.request<{ components: { schemas: Record<string, Schema> } }>({
      method: 'GET',
      path: `/openapi/v3/${place}`,
    })
    const definitions = closedValues(components.schemas)
    for (const [name, schema] of Object.entries(components.schemas)) {
      for (const { group, version, kind } of schema['x-kubernetes-group-version-kind'] ?? []) {
        // kubeconform names the core group only by its version.
        const folder = path.join(directory, group || version)
        await mkdir(folder, { recursive: true })
        await writeFile(
          path.join(folder, `${kind.toLowerCase()}-${version}.json`),
          JSON.stringify({ $ref: `#/definitions/${name}`, definitions }),
        )
      }
    }
  }
}

/** The same schema, with references to `definitions`, and with unknown fields disallowed. */
function closed(schema: Schema): Schema {
  const { $ref, properties, items, additionalProperties, allOf, anyOf, oneOf } = schema
  const isOpen = additionalProperties !== undefined || schema['x-kubernetes-preserve-unknown-fields'] === true
  return {
    ...schema,
    ...($ref === undefined ? {} : { $ref: $ref.replace('#/components/schemas/', '#/definitions/') }),
    ...(properties === undefined ? {} : { properties: closedValues(properties) }),
    ...(properties === undefined || isOpen ? {} : { additionalProperties: false }),
    ...(items === undefined ? {} : { items: closed(items) }),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: closed(additionalProperties) } : {}),
    ...(allOf === undefined ? {} : { allOf: allOf.map(closed) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(closed) }),
    ...(oneOf === undefined ? {} : { oneOf: oneOf.map(closed) }),
  }
}

const closedValues = (schemas: Record<string, Schema>): Record<string, Schema> =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, closed(schema)]))
