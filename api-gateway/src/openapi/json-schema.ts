import { z } from 'zod'
import { namedSchemas } from '../http/named-schemas.ts'

type JsonSchema = z.core.JSONSchema.BaseSchema

/**
 * Removes the limits of safe integers, which zod adds to every integer, and what only a CRD has. Also removes the only value of a boolean, which
 * openapi-generator compares as a text, so that its clients refuse every response.
 */
function dropNoise({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  if (jsonSchema.type === 'boolean') delete jsonSchema.const
  // openapi-generator for Python matches the pattern against the time, not against its text.
  if (jsonSchema.format === 'date-time' || jsonSchema.format === 'date') delete jsonSchema.pattern
  for (const name of Object.keys(jsonSchema)) if (name.startsWith('x-kubernetes-')) delete jsonSchema[name]
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
}

// Converted as input, so that response objects allow additional fields: version 1 may gain fields.
const settings = { target: 'draft-2020-12', io: 'input', override: dropNoise } as const

/** Reference to a named schema. */
export const refTo = (schema: z.ZodType): { $ref: string } => {
  const id = namedSchemas.get(schema)?.id
  if (id === undefined) throw new Error('a schema of a request or response body needs a name')
  return { $ref: toRef(id) }
}

const toRef = (id: string): string => `#/components/schemas/${id}`

/** JSON Schema of a schema without a name, such as a parameter's. */
export function toJsonSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, settings)
  return json
}

/** All named schemas, with references to each other. */
export function toComponents(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(namedSchemas, { ...settings, uri: toRef })
  const entries = Object.entries(schemas).map(([id, { $schema: _, $id: __, ...json }]) => [id, json] as const)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}
