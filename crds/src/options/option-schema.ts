import { z } from 'zod'

/** What JSON Schema says of one option, as far as its page and its tests read it. */
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

/** The schema of an option. */
export const toOptionSchema = (schema: z.ZodType): OptionSchema =>
  z.toJSONSchema(schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema, { io: 'input' }) as OptionSchema
