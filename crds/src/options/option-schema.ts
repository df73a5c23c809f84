import { z } from 'zod'

/** The part of an option's JSON Schema that docs/options.md and the tests read. */
export interface OptionSchema {
  type?: string
  description?: string
  enum?: readonly unknown[]
  minimum?: number
  maximum?: number
  maxLength?: number
  maxItems?: number
  maxProperties?: number
  pattern?: string
  items?: OptionSchema
}

/** Converts an option's zod schema to JSON Schema. */
export const toOptionSchema = (schema: z.ZodType): OptionSchema =>
  z.toJSONSchema(schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema, { io: 'input' }) as OptionSchema
