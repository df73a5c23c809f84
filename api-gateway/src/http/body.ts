import type { z } from 'zod'
import { invalid, type Problem } from '../common/errors.ts'
import { addProblems, type KnownNames, toProblems } from './problems.ts'

const MEBIBYTE = 1024 * 1024

/** Maximum size of a body. */
export const MAX_BODY_BYTES = MEBIBYTE
/** Maximum size of a body with `html` or `markdown`: 2,097,152 characters as `\uXXXX` are 12 MiB. */
export const MAX_MARKUP_BODY_BYTES = 14 * MEBIBYTE
/** Maximum size of such a body if each `\uXXXX` is a character in UTF-8: 2,097,152 characters are at most 6 MiB. */
export const MAX_UTF8_BYTES = 8 * MEBIBYTE

/** Media type of a body of PATCH, beside JSON (RFC 7396). */
export const MERGE_PATCH = 'application/merge-patch+json'

/** A request body as the OpenAPI document describes it. */
export interface BodyDocumentation {
  /** Named schema. */
  schema: z.ZodType
  examples: Readonly<Record<string, { summary: string; value: unknown }>>
  /** False when the body is optional. */
  required?: boolean
  /** Maximum size; default: {@link MAX_BODY_BYTES}. */
  maxBytes?: number
}

/** Reads a body. @throws ApiError VALIDATION_ERROR that lists every problem */
type Read<Body, Deps> = (raw: unknown, context: { isLenient: boolean; deps: Deps }) => ReadBody<Body>

/** A request body and its parser. */
export interface BodyReader<Body, Deps> extends BodyDocumentation {
  read: Read<Body, Deps>
}

interface JsonBody<Shape extends z.ZodRawShape, Deps> extends BodyDocumentation {
  schema: z.ZodObject<Shape>
  /** Rules that a schema cannot express. Invalid fields are absent. */
  check?: (body: Partial<z.infer<z.ZodObject<Shape>>>, deps: Deps) => readonly Problem[]
}

/** Declares a body that is an object without nested objects. An absent body counts as an empty object if it is optional. */
export const jsonBody = <Shape extends z.ZodRawShape, Deps = unknown>({
  check = () => [],
  ...documentation
}: JsonBody<Shape, Deps>): BodyReader<z.infer<z.ZodObject<Shape>>, Deps> => ({
  ...documentation,
  read: (raw, { isLenient, deps }) =>
    readBody(documentation.schema, raw === undefined && documentation.required === false ? {} : raw, {
      lenient: isLenient,
      validate: (body) => check(body, deps),
    }),
})

/** True for a JSON object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Checks that a schema cannot express: rules over several fields or over the time. */
type Validate<T> = (body: Partial<T>) => readonly Problem[]

interface ReadOptions<T> {
  /** Drops unknown fields instead of rejecting them. */
  lenient?: boolean
  validate?: Validate<T>
}

/** A parsed body. */
interface ReadBody<T> {
  body: T
  /** Names of dropped fields. */
  ignored: string[]
}

/**
 * Reads a body without nested objects.
 * @throws ApiError VALIDATION_ERROR that lists every problem
 */
function readBody<Shape extends z.ZodRawShape>(
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
