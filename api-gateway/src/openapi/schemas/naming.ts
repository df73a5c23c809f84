import { z } from 'zod'

/** Schemas that the document gives a name and writes once, under `components`. */
export const named = z.registry<{ id: string }>()

/** Gives a schema its name in the document. */
export function name<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  named.add(schema, { id })
  return schema
}

type JsonSchema = z.core.JSONSchema.BaseSchema

/** zod bounds every whole number by what a double can hold; that is no rule of ours. */
function dropNoise({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
}

// As what is sent in: a response object stays open, because v1 may grow fields (versioning).
const settings = { target: 'draft-2020-12', io: 'input', override: dropNoise } as const

/** Where a named schema stands in the document. */
export const refTo = (schema: z.ZodType): { $ref: string } => {
  const id = named.get(schema)?.id
  if (id === undefined) throw new Error('a schema of a request or response body needs a name')
  return { $ref: toRef(id) }
}

const toRef = (id: string): string => `#/components/schemas/${id}`

/** A schema without a name, such as a parameter's. */
export function toJsonSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, settings)
  return json
}

/** All named schemas, each with references to the others. */
export function toComponents(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(named, { ...settings, uri: toRef })
  const entries = Object.entries(schemas).map(([id, { $schema: _, $id: __, ...json }]) => [id, json] as const)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}
