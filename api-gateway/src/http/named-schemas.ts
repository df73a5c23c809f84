import type { z } from 'zod'
import { registry } from 'zod'

/** Named schemas, which the OpenAPI document contains once, under `components`. */
export const namedSchemas = registry<{ id: string }>()

/** Registers a schema with its name in the document. */
export function name<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  namedSchemas.add(schema, { id })
  return schema
}
