import { z } from 'zod'

// Converts zod schemas to structural schemas for a CustomResourceDefinition: no `additionalProperties: false` beside `properties`, no `default`,
// no `pattern` flags, and only formats that the API server knows.

type Json = Record<string, unknown>

/** Keys of JSON Schema that the API server does not support or that other keys already express. */
const DROPPED_KEYS = new Set(['$schema', 'additionalItems', 'id', 'default'])

function convert(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(convert)
  if (node === null || typeof node !== 'object') return node
  const source = node as Json
  const target: Json = {}
  for (const [key, value] of Object.entries(source)) {
    if (DROPPED_KEYS.has(key)) continue
    if (key === 'properties') target[key] = Object.fromEntries(Object.entries(value as Json).map(([name, child]) => [name, convert(child)]))
    else target[key] = key === 'enum' || key === 'required' ? value : convert(value)
  }
  if (target.properties !== undefined || target.additionalProperties === false) delete target.additionalProperties
  if (target.propertyNames !== undefined) delete target.propertyNames
  return target
}

/** Turns a zod schema into an OpenAPI v3 schema that the API server accepts as structural. */
export function toStructuralSchema(schema: z.ZodType): Json {
  return convert(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' })) as Json
}
