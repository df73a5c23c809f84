import { globSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import { parse } from 'yaml'
import { repository } from '../../cluster/host/state.ts'
import type { Rendered } from './chart.ts'
import { readText } from './code-blocks.ts'

// Checks manifests with the generated CRDs.

interface SchemaNode {
  [key: string]: unknown
  properties?: Record<string, SchemaNode>
  additionalProperties?: SchemaNode | false
  items?: SchemaNode
}
interface Crd {
  spec: { names: { kind: string }; versions: { name: string; schema: { openAPIV3Schema: SchemaNode } }[] }
}

/** A structural schema allows unknown fields, which the API server drops. Here they are errors. */
function close(node: SchemaNode): SchemaNode {
  const { properties, additionalProperties, items, ...rest } = node
  const closed = properties && {
    properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, close(child)])),
    additionalProperties: false as const,
  }
  return {
    ...rest,
    ...closed,
    ...(additionalProperties ? { additionalProperties: close(additionalProperties) } : {}),
    ...(items ? { items: close(items) } : {}),
  }
}

// Not strict: the schemas have `x-kubernetes-…` keywords, which ajv does not know.
const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false })

/** The schema of each kind, by `apiVersion/kind`. Metadata is the API server's own and stays open. */
const schemas = new Map(
  globSync('charts/tintype/crds/*.yaml', { cwd: repository }).flatMap((file) => {
    const { spec } = parse(readText(file)) as Crd
    return spec.versions.map(({ name, schema: { openAPIV3Schema } }) => [
      `tintype.dev/${name}/${spec.names.kind}`,
      ajv.compile(close({ ...openAPIV3Schema, properties: { ...openAPIV3Schema.properties, metadata: {} } })),
    ])
  }) as [string, ValidateFunction][],
)

/** What is wrong with an object of one of the kinds; empty: nothing. */
export const faultsOf = (object: Rendered): string[] => {
  const validate = schemas.get(`${object.apiVersion}/${object.kind}`)
  if (!validate) return [`no CRD of ${object.apiVersion} ${object.kind}`]
  if (validate(object)) return []
  return (validate.errors ?? []).map(({ instancePath, message, params }) => `${instancePath}: ${message} ${JSON.stringify(params)}`)
}
