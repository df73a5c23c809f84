import type { z } from 'zod'
import type { Problem } from '../common/errors.ts'
import { type ReadBody, readBody } from './read-body.ts'

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
export type Read<Body, Deps> = (raw: unknown, context: { isLenient: boolean; deps: Deps }) => ReadBody<Body>

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
