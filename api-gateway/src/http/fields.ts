import { INVISIBLE_NAME } from '@tintype/crds/schema/custom-resource'
import { hasVisibleText } from '@tintype/crds/text/visible'
import { registry, z } from 'zod'

// Named schemas of the bodies around records.

const success = z.literal(true)

/** `{ message, data }`: the response to a change. */
export const messageBody = <T extends z.ZodType>(id: string, data: T, description: string) =>
  name(id, z.object({ message: z.string(), data }).describe(description))

/** `{ success, data }`: the response to a read. */
export const dataBody = <T extends z.ZodType>(id: string, data: T, description: string) =>
  name(id, z.object({ success, data }).describe(description))

/** `{ success, message, data }`: the response to a request to the operator. */
export const requestedBody = <T extends z.ZodType>(id: string, data: T, description: string) =>
  name(id, z.object({ success, message: z.string(), data }).describe(description))

/** `{ success, data, pagination }`: one page of a list. */
export const listBody = <T extends z.ZodType, P extends z.ZodType>(id: string, item: T, pagination: P, description: string) =>
  name(id, z.object({ success, data: z.array(item), pagination }).describe(description))

/** Pagination of a list without a total count. */
export const cursorPagination = <T extends z.ZodType>(cursor: T) =>
  z.object({ limit: z.int().min(1), has_more: z.boolean(), next_cursor: cursor.nullable() })

/** Named schemas, which the OpenAPI document contains once, under `components`. */
export const namedSchemas = registry<{ id: string }>()

/** Registers a schema with its name in the document. */
export function name<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  namedSchemas.add(schema, { id })
  return schema
}

// Fields that several request bodies and records share.

/** Number of code points, as Kubernetes counts. An emoji is one character. */
const lengthOf = (text: string): number => [...text].length

/** Text of limited length. Malformed Unicode is rejected, because it would be stored as different text. */
export const boundedText = (minimum: number, maximum: number) =>
  z
    .string()
    .check(({ value, issues }) => {
      const issue = { origin: 'string', input: value, inclusive: true } as const
      if (lengthOf(value) > maximum) issues.push({ ...issue, code: 'too_big', maximum })
      if (lengthOf(value) < minimum) issues.push({ ...issue, code: 'too_small', minimum })
      if (!value.isWellFormed()) issues.push({ code: 'custom', input: value, message: 'is not well-formed Unicode' })
    })
    .meta({ ...(minimum > 0 ? { minLength: minimum } : {}), maxLength: maximum })

/** A name for people. */
export const displayName = (what: string) =>
  boundedText(1, 100)
    .refine((text) => text === '' || hasVisibleText(text), INVISIBLE_NAME)
    .describe(what)

/** A timestamp in a response. */
export const instantField = z.string().meta({ format: 'date-time' })

/** A time of an object as responses show it. */
export const iso = (time: string): string => new Date(time).toISOString()
export const isoOrNull = (time: string | undefined): string | null => (time === undefined ? null : iso(time))

/** True when the timestamp is in the future. */
export const isAhead = (instant: string | undefined, now: Date): instant is string => instant !== undefined && new Date(instant) > now

/** The fields that are not undefined. */
export const definedOf = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> }

/** The fields of a merge patch: each may be absent, and null removes it. */
export const toPatchFields = <Shape extends Record<string, z.ZodType>>(shape: Shape) =>
  Object.fromEntries(Object.entries(shape).map(([field, schema]) => [field, toPatchField(schema)])) as {
    [Field in keyof Shape]: z.ZodOptional<z.ZodNullable<Shape[Field]>>
  }

/** The description is that of the field as a whole, so that the generated types show it. */
function toPatchField(schema: z.ZodType): z.ZodType {
  const inner = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema
  const { description, ...meta } = { ...inner.meta(), ...schema.meta() }
  const patch = inner
    .meta({ ...meta, description: undefined } as z.GlobalMeta)
    .nullable()
    .optional()
  return description === undefined ? patch : patch.describe(description)
}
