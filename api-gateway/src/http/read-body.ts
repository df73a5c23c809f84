import type { z } from 'zod'
import { invalid, type Problem } from '../common/errors.ts'
import { addProblems, type KnownNames, toProblems } from './problems.ts'

/** True for a JSON object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Checks that a schema cannot express: rules over several fields or over the time. */
export type Validate<T> = (body: Partial<T>) => readonly Problem[]

interface ReadOptions<T> {
  /** Drops unknown fields instead of rejecting them. */
  lenient?: boolean
  validate?: Validate<T>
}

/** A parsed body. */
export interface ReadBody<T> {
  body: T
  /** Names of dropped fields. */
  ignored: string[]
}

/**
 * Reads a body without nested objects.
 * @throws ApiError VALIDATION_ERROR that lists every problem
 */
export function readBody<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  raw: unknown,
  { lenient = false, validate = () => [] }: ReadOptions<z.infer<z.ZodObject<Shape>>> = {},
): ReadBody<z.infer<z.ZodObject<Shape>>> {
  const names = Object.keys(schema.shape)
  const known: KnownNames = { '': names }
  const ignored = lenient && isObject(raw) ? Object.keys(raw).filter((name) => !names.includes(name)) : []
  const body = ignored.length > 0 ? Object.fromEntries(Object.entries(raw as object).filter(([name]) => names.includes(name))) : raw
  const parsed = schema.safeParse(body)
  const found = parsed.success ? [] : toProblems(parsed.error.issues, known, { schema, body })
  const sound = parsed.data ?? soundPartOf(schema, body)
  const problems = addProblems(found, validate(sound as Partial<z.infer<z.ZodObject<Shape>>>))
  if (problems.length === 0) problems.push(...findEmptyProblems(schema, body))
  if (problems.length > 0 || !parsed.success) throw invalid(problems)
  return { body: parsed.data, ignored }
}

/** Fields that are valid by themselves. Rules over several fields are checked with them even if other fields are invalid. */
function soundPartOf({ shape }: z.ZodObject, body: unknown): Record<string, unknown> {
  if (!isObject(body)) return {}
  return Object.fromEntries(
    Object.entries(shape).flatMap(([name, field]) => {
      const parsed = (field as z.ZodType).safeParse(body[name])
      return parsed.success && parsed.data !== undefined ? [[name, parsed.data]] : []
    }),
  )
}

/** Checks that a list has no duplicates. */
export function findDuplicateProblems(path: string, values: readonly string[] = []): Problem[] {
  const index = values.findIndex((value, at) => values.indexOf(value) !== at)
  return index < 0 ? [] : [{ path: `${path}[${index}]`, code: 'duplicate', message: `${path}[${index}] is a duplicate` }]
}

/** Checks that a body of a change has at least one field, if its schema requires one. */
export const findEmptyProblems = (schema: z.ZodType, body: unknown): Problem[] =>
  schema.meta()?.minProperties === undefined || Object.keys(body as object).length > 0
    ? []
    : [{ path: '', code: 'empty', message: 'the body must have at least one field to change' }]
