import { SCOPES } from '@tintype/crds/kinds/api-key'
import { API_VERSION } from '../common/version.ts'
import { nameOfErrors, toErrorResponse } from './error-responses.ts'
import { errorsOf } from './errors-of.ts'
import { writeEvents } from './events.ts'
import { operations } from './operations/all.ts'
import { HEADERS } from './operations/headers.ts'
import type { Operation, Tag } from './operations/operation.ts'
import { toComponents, toJsonSchema } from './schemas/naming.ts'
import { writeOperation } from './write-operation.ts'

/** Documented prefix of the operations. `/v1` serves the same. */
export const API_PREFIX = '/api/v1'

const TAGS: Readonly<Record<Tag, string>> = {
  Screenshots: 'Pages in, pictures out.',
  Batches: 'Up to 100 pages with one set of options.',
  Devices: 'Presets for `options.device`.',
  Webhooks: 'Endpoints that signed events are posted to, and the events.',
  'API keys': 'Who may do what for the account.',
  Usage: 'What the account has used this month.',
  Service: 'How the service is, and this document.',
  Files: 'Where `download_url` leads.',
}

const DESCRIPTION = `Web pages in, pictures out.

- Keys go into \`Authorization: Bearer <API_KEY>\`. Each operation names the scope that a key needs for it.
- Unknown fields, wrong types and values out of range are rejected. The response lists all problems in \`error.details\`.
- The same paths are served below \`/v1\`. Changes within version 1 only add.`

/** The path of an operation in the document. */
export const pathOf = ({ path, isOutsideApi }: Pick<Operation, 'path' | 'isOutsideApi'>): string =>
  isOutsideApi ? path : API_PREFIX + path

function writePaths() {
  const byPath = Map.groupBy(operations, pathOf)
  const entries = [...byPath].map(
    ([path, ofPath]) => [path, Object.fromEntries(ofPath.map((operation) => [operation.method, writeOperation(operation)]))] as const,
  )
  return Object.fromEntries(entries)
}

function writeErrors() {
  const kinds = operations.flatMap((operation) => [...errorsOf(operation)])
  return Object.fromEntries(kinds.map(([status, codes]) => [nameOfErrors(status, codes), toErrorResponse(status, codes)]))
}

const writeHeaders = () =>
  Object.fromEntries(Object.entries(HEADERS).map(([name, header]) => [name, { ...header, schema: toJsonSchema(header.schema) }]))

const apiKey = {
  type: 'http',
  scheme: 'bearer',
  description: `An API key. Scopes: ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}; \`*\` is all of them.`,
}

/** Builds the OpenAPI 3.1 document of the API. */
export const buildDocument = () => ({
  openapi: '3.1.0',
  info: {
    title: 'Tintype',
    version: API_VERSION,
    summary: 'The open, self-hosted screenshot service.',
    description: DESCRIPTION,
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/', description: 'This gateway.' }],
  tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
  paths: writePaths(),
  webhooks: writeEvents(),
  components: {
    securitySchemes: { apiKey },
    schemas: toComponents(),
    headers: writeHeaders(),
    responses: writeErrors(),
  },
})
