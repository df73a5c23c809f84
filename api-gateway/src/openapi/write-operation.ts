import type { Scope } from '@tintype/crds/kinds/api-key'
import { ARTIFACT_CONTENT_TYPES } from '@tintype/crds/options/artifacts'
import { CONTENT_TYPES, MovingFormat, StillFormat } from '@tintype/crds/options/output/formats'
import type { HttpErrorCode } from '@tintype/crds/schema/errors'
import { type BodyDocumentation, MERGE_PATCH } from '../http/body.ts'
import { COMMON_HEADERS, LIMIT_HEADERS } from '../http/headers.ts'
import type { Parameter } from '../http/parameters.ts'
import { idempotencyKey, prefer } from '../http/parameters.ts'
import type { Operation, ResponseSpec } from '../http/route.ts'
import { nameOfErrors, toErrorResponse, toHeaderRefs } from './error-responses.ts'
import { errorsOf } from './errors-of.ts'
import { refTo, toJsonSchema } from './json-schema.ts'

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
