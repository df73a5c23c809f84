import { z } from 'zod'

/** The schema below what says that a field may be absent or null. */
function unwrap(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? unwrap(schema.unwrap() as z.ZodType) : schema
}

const descriptionOf = (schema: z.ZodType): string | undefined => schema.description ?? unwrap(schema).description

function childOf(schema: z.ZodType, segment: PropertyKey): z.ZodType | undefined {
  const inner = unwrap(schema)
  if (inner instanceof z.ZodObject) return inner.shape[segment as string] as z.ZodType | undefined
  if (inner instanceof z.ZodArray) return inner.element as z.ZodType
  return inner instanceof z.ZodRecord ? (inner.valueType as z.ZodType) : undefined
}

/** What the schema says of a field, or of the nearest field around it that explains itself. Without its default. */
export function findDescription(schema: z.ZodType, path: readonly PropertyKey[]): string | undefined {
  let node: z.ZodType | undefined = schema
  let found: string | undefined
  for (const segment of path) {
    node = node && childOf(node, segment)
    found = (node && descriptionOf(node)) ?? found
  }
  return found?.replace(/ Default: [^.]*\.$/, '')
}

/** What a body holds at a path; undefined where it holds nothing. */
export const valueAt = (body: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, segment) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, segment)
        ? (value as Record<PropertyKey, unknown>)[segment]
        : undefined,
    body,
  )
