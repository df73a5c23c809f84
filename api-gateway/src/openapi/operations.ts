import type { Scope } from '@tintype/crds/kinds/api-key'
import { ARTIFACT_CONTENT_TYPES } from '@tintype/crds/options/artifacts'
import { CONTENT_TYPES, MovingFormat, StillFormat } from '@tintype/crds/options/output/formats'
import { HTTP_ERRORS, type HttpErrorCode, PROBLEM_CODES } from '@tintype/crds/schema/errors'
import { z } from 'zod'
import { type BodyDocumentation, MERGE_PATCH } from '../http/body.ts'
import { name, namedSchemas } from '../http/fields.ts'
import { COMMON_HEADERS, type HeaderName, LIMIT_HEADERS } from '../http/headers.ts'
import { idempotencyKey, ifMatch, type Parameter, prefer } from '../http/parameters.ts'
import type { Operation, ResponseSpec } from '../http/route.ts'

// Converts declared routes to OpenAPI operations.

/** Examples are inside the schema, because reference pages prefill forms with examples beside it. */
const writeParameter = ({ schema, explode, example, ...rest }: Parameter) => ({
  ...rest,
  ...(explode === false ? { style: 'form', explode } : {}),
  schema: { ...toJsonSchema(schema), ...(example === undefined ? {} : { examples: [example] }) },
})

/** A change is a merge patch, which may also be sent as plain JSON. */
function writeBody(method: Operation['method'], { schema, examples, required = true }: BodyDocumentation) {
  const media = { schema: refTo(schema), examples }
  return { required, content: { 'application/json': media, ...(method === 'patch' ? { [MERGE_PATCH]: media } : {}) } }
}

/** OpenAPI 3.1 describes a binary body by its media type alone. */
const toMedia = (types: Iterable<string>) => Object.fromEntries([...types].map((type) => [type.replace(/;.*/, ''), {}]))
const FILES = {
  screenshot: toMedia(StillFormat.options.map((format) => CONTENT_TYPES[format])),
  video: toMedia(MovingFormat.options.map((format) => CONTENT_TYPES[format])),
  capture: toMedia(Object.values(CONTENT_TYPES)),
  every: toMedia([...Object.values(CONTENT_TYPES), ...ARTIFACT_CONTENT_TYPES.values()]),
}

function writeContent({ schema, example, files }: ResponseSpec) {
  const json = schema === undefined ? {} : { 'application/json': { schema: refTo(schema), ...(example === undefined ? {} : { example }) } }
  const content = { ...json, ...(files === undefined ? {} : FILES[files]) }
  return Object.keys(content).length === 0 ? {} : { content }
}

function writeResponse(response: ResponseSpec, isPublic: boolean) {
  const headers = [...COMMON_HEADERS, ...(response.headers ?? []), ...(isPublic ? [] : LIMIT_HEADERS)]
  return {
    description: response.description,
    headers: toHeaderRefs(headers),
    ...writeContent(response),
    ...(response.links === undefined ? {} : { links: response.links }),
  }
}

/** Operations share the responses with the same errors, except those that also respond with pictures. */
function writeErrors({ hasErrorImages }: Operation, status: number, codes: readonly HttpErrorCode[]) {
  if (!hasErrorImages) return { $ref: `#/components/responses/${nameOfErrors(status, codes)}` }
  const { content, ...response } = toErrorResponse(status, codes)
  return { ...response, content: { ...content, ...toMedia([CONTENT_TYPES.png]) } }
}

function writeResponses(operation: Operation) {
  const isPublic = operation.scope === undefined
  const good = Object.entries(operation.responses).map(([status, response]) => [status, writeResponse(response, isPublic)] as const)
  const bad = [...errorsOf(operation)].map(([status, codes]) => [String(status), writeErrors(operation, status, codes)] as const)
  // Numeric object keys are sorted.
  return Object.fromEntries([...good, ...bad])
}

/** All parameters: of the path, of the query, and headers. */
export function parametersOf({ parameters = [], query = {}, body, isKeyed }: Operation): Parameter[] {
  const declared = Object.entries(query === 'unchecked' ? {} : query).map(
    ([name, { description, schema, example, explode, required }]): Parameter => ({
      name,
      in: 'query',
      ...(required ? { required } : {}),
      description,
      schema,
      example,
      ...(explode === false ? { explode } : {}),
    }),
  )
  return [
    ...parameters.filter((parameter) => parameter.in === 'path'),
    ...declared,
    ...parameters.filter((parameter) => parameter.in !== 'path'),
    ...(body === undefined ? [] : [prefer]),
    ...(isKeyed ? [idempotencyKey] : []),
  ]
}

/** An empty requirement makes the API key optional. */
function toSecurity(scope: Scope | undefined, optionalScope: Scope | undefined): Record<string, Scope[]>[] {
  if (scope !== undefined) return [{ apiKey: [scope] }]
  return optionalScope === undefined ? [] : [{}, { apiKey: [optionalScope] }]
}

/** An operation for `paths`. */
export function writeOperation(operation: Operation) {
  const { id, tag, summary, description, scope, optionalScope, body } = operation
  const all = parametersOf(operation)
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, scope && `Needs the scope \`${scope}\`.`].filter(Boolean).join('\n\n'),
    // OpenAPI 3.1 allows scopes for bearer authentication.
    security: toSecurity(scope, optionalScope),
    ...(all.length === 0 ? {} : { parameters: all.map(writeParameter) }),
    ...(body === undefined ? {} : { requestBody: writeBody(operation.method, body) }),
    responses: writeResponses(operation),
  }
}

const ALWAYS: readonly HttpErrorCode[] = [
  'VALIDATION_ERROR',
  'HEADERS_TOO_LARGE',
  'REQUEST_TIMEOUT',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
]
const WITH_KEY: readonly HttpErrorCode[] = [
  'UNAUTHORIZED',
  'INVALID_API_KEY',
  'INSUFFICIENT_SCOPE',
  'ACCOUNT_SUSPENDED',
  'RATE_LIMIT_EXCEEDED',
]
const WITH_BODY: readonly HttpErrorCode[] = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']
const WITH_IDEMPOTENCY_KEY: readonly HttpErrorCode[] = ['IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED']

/** All error codes of an operation, by HTTP status. */
export function errorsOf({ parameters = [], body, scope, optionalScope, isKeyed, errors = [] }: Operation): Map<number, HttpErrorCode[]> {
  const codes = new Set<HttpErrorCode>([
    ...errors,
    ...ALWAYS,
    ...((scope ?? optionalScope) === undefined ? [] : WITH_KEY),
    ...(parameters.some((parameter) => parameter.in === 'path') ? (['NOT_FOUND'] as const) : []),
    ...(parameters.includes(ifMatch) ? (['PRECONDITION_FAILED'] as const) : []),
    ...(body ? WITH_BODY : []),
    ...(isKeyed ? WITH_IDEMPOTENCY_KEY : []),
  ])
  const inOrder = (Object.keys(HTTP_ERRORS) as HttpErrorCode[]).filter((code) => codes.has(code))
  return Map.groupBy(inOrder, (code) => HTTP_ERRORS[code].status)
}

const Problem = name(
  'Problem',
  z
    .object({
      path: z.string().describe('Path of the field, such as `options.image_quality` or `urls[3]`. Empty for the whole body.'),
      code: z.enum(Object.keys(PROBLEM_CODES) as [string, ...string[]]).describe('Machine-readable code of the problem.'),
      message: z.string().describe('Description of the problem. Never contains the value.'),
    })
    .describe('One problem of a request.'),
)

/** The body of every error response. */
export const ErrorBody = name(
  'Error',
  z
    .object({
      success: z.literal(false),
      error: z.object({
        message: z.string().describe('For people.'),
        code: z.enum(Object.keys(HTTP_ERRORS) as [string, ...string[]]).describe('For programs.'),
        details: z
          .union([z.array(Problem), z.record(z.string(), z.unknown())])
          .optional()
          .describe('All problems of the request, or facts about the error.'),
        request_id: z.string().optional().describe('Same as the header X-Request-Id.'),
      }),
    })
    .describe('An error response.'),
)

/** Example details of error codes. The other codes have none. */
const DETAILS: Partial<Record<HttpErrorCode, unknown>> = {
  VALIDATION_ERROR: [{ path: 'options.delay', code: 'too_small', message: 'options.delay must be at least 0' }],
  URL_NOT_ALLOWED: [{ path: 'url', code: 'url_not_allowed', message: 'the URL is not public' }],
  CAPTURE_FAILED: { id: 'scr_7yztsh6vzw7j4q0n9x2c5d8e1f', code: 'TIMEOUT', message: 'the page did not load in 30000 ms' },
  RATE_LIMIT_EXCEEDED: { limit: 40, window_seconds: 60, retry_after: 12 },
  USAGE_LIMIT_REACHED: { limit: 2000, used: 2000, reset_at: '2026-12-01T00:00:00.000Z' },
}

const HEADERS_OF: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  409: ['Retry-After'],
  416: ['Content-Range'],
  429: ['Retry-After', 'X-Should-Retry'],
  503: ['Retry-After'],
}

const toExample = (code: HttpErrorCode) => ({
  summary: HTTP_ERRORS[code].remedy,
  value: {
    success: false,
    error: {
      message: HTTP_ERRORS[code].remedy,
      code,
      ...(DETAILS[code] === undefined ? {} : { details: DETAILS[code] }),
      request_id: '3f6c1d0e-8d1c-4a2b-9c57-0f8a3f1f7a10',
    },
  },
})

const toPascalCase = (code: string): string => code.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Component name such as `Error400ValidationErrorUrlNotAllowed`. Equal sets of errors share one component. */
export const nameOfErrors = (status: number, codes: readonly HttpErrorCode[]): string => `Error${status}${codes.map(toPascalCase).join('')}`

/** The response for a status with these error codes. */
export function toErrorResponse(status: number, codes: readonly HttpErrorCode[]) {
  const names = [...COMMON_HEADERS, ...(HEADERS_OF[status] ?? []), ...(status === 429 ? LIMIT_HEADERS : [])]
  return {
    description: codes.map((code) => `\`${code}\`: ${HTTP_ERRORS[code].remedy}`).join('\n\n'),
    headers: toHeaderRefs(names),
    content: {
      'application/json': {
        schema: refTo(ErrorBody),
        examples: Object.fromEntries(codes.map((code) => [code, toExample(code)])),
      },
    },
  }
}

const toHeaderRefs = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

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
