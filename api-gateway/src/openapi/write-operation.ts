import { ARTIFACT_CONTENT_TYPES } from '@tintype/crds/options/artifacts'
import { CONTENT_TYPES } from '@tintype/crds/options/output/image'
import { nameOfErrors, toHeaderRefs } from './error-responses.ts'
import { errorsOf } from './errors-of.ts'
import { COMMON_HEADERS, LIMIT_HEADERS } from './operations/headers.ts'
import type { Body, Operation, Parameter, ResponseSpec } from './operations/operation.ts'
import { idempotencyKey } from './operations/parameters.ts'
import { refTo, toJsonSchema } from './schemas/naming.ts'

// Converts operations from the table to OpenAPI.

/** Examples are inside the schema, because reference pages prefill forms with examples beside it. */
const writeParameter = ({ schema, explode, example, ...rest }: Parameter) => ({
  ...rest,
  ...(explode === false ? { style: 'form', explode } : {}),
  schema: { ...toJsonSchema(schema), ...(example === undefined ? {} : { examples: [example] }) },
})

const writeBody = ({ schema, examples, required = true }: Body) => ({
  required,
  content: { 'application/json': { schema: refTo(schema), examples } },
})

/** OpenAPI 3.1 describes a binary body by its media type alone. */
const toMedia = (types: Iterable<string>) => Object.fromEntries([...types].map((type) => [type.replace(/;.*/, ''), {}]))
const FILES = {
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

function writeResponses(operation: Operation) {
  const isPublic = operation.scope === undefined
  const good = Object.entries(operation.responses).map(([status, response]) => [status, writeResponse(response, isPublic)] as const)
  const bad = [...errorsOf(operation)].map(
    ([status, codes]) => [String(status), { $ref: `#/components/responses/${nameOfErrors(status, codes)}` }] as const,
  )
  // Numeric object keys are sorted.
  return Object.fromEntries([...good, ...bad])
}

/** An operation for `paths`. */
export function writeOperation(operation: Operation) {
  const { id, tag, summary, description, scope, parameters = [], body, isKeyed } = operation
  const all = [...parameters, ...(isKeyed ? [idempotencyKey] : [])]
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, scope && `Needs the scope \`${scope}\`.`].filter(Boolean).join('\n\n'),
    // OpenAPI 3.1 allows scopes for bearer authentication.
    security: scope === undefined ? [] : [{ apiKey: [scope] }],
    ...(all.length === 0 ? {} : { parameters: all.map(writeParameter) }),
    ...(body === undefined ? {} : { requestBody: writeBody(body) }),
    responses: writeResponses(operation),
  }
}
