import { SCOPES } from '@tintype/crds/kinds/api-key'
import { API_VERSION } from '../common/version.ts'
import { HEADERS } from '../http/headers.ts'
import type { Operation, Tag } from '../http/route.ts'
import { routes } from '../resources/all.ts'
import { nameOfErrors, toErrorResponse } from './error-responses.ts'
import { errorsOf } from './errors-of.ts'
import { writeEvents } from './events.ts'
import { toComponents, toJsonSchema } from './json-schema.ts'
import { writeOperation } from './write-operation.ts'

/** Documented prefix of the routes. `/v1` serves the same. */
export const API_PREFIX = '/api/v1'

const TAGS: Readonly<Record<Tag, string>> = {
  Screenshots: 'Create, read, list and delete screenshots.',
  Videos: 'Record, read, list and delete videos.',
  Batches: 'Capture up to 100 pages with the same options.',
  Devices: 'Presets for `options.device`.',
  Schedules: 'Capture a page again and again, at times of a cron expression.',
  Webhooks: 'Endpoints that signed events are posted to, and the events.',
  'API keys': 'API keys of the account and their scopes.',
  Usage: 'Usage of the account in the current month.',
  Service: 'Service status and this document.',
  System: 'State of the whole service, for administrators.',
  Files: 'Downloads at the URLs in `download_url`.',
  Links: 'Pictures at signed URLs, for `<img>` elements, Markdown and email.',
}

const DESCRIPTION = `Captures screenshots and videos of web pages.

- Send the API key as \`Authorization: Bearer <API_KEY>\`. Each operation names the scope that the key needs.
- Requests with unknown fields, wrong types or values out of range are rejected. The response lists all problems in \`error.details\`.
- The same paths also exist under \`/v1\`. Version 1 may gain fields and operations, but none are removed or changed.`

/** The path of an operation in the document. */
export const pathOf = ({ path, isOutsideApi }: Pick<Operation, 'path' | 'isOutsideApi'>): string =>
  isOutsideApi ? path : API_PREFIX + path

/** The request that creates an endpoint documents what is posted to it. Of `webhooks`, openapi-generator makes clients that do not compile. */
const writeWithEvents = (operation: Operation) => ({
  ...writeOperation(operation),
  ...(operation.id === 'createWebhook' ? { callbacks: writeEvents() } : {}),
})

function writePaths() {
  const byPath = Map.groupBy(routes, pathOf)
  const entries = [...byPath].map(
    ([path, ofPath]) => [path, Object.fromEntries(ofPath.map((operation) => [operation.method, writeWithEvents(operation)]))] as const,
  )
  return Object.fromEntries(entries)
}

function writeErrors() {
  const kinds = routes.filter(({ hasErrorImages }) => !hasErrorImages).flatMap((operation) => [...errorsOf(operation)])
  return Object.fromEntries(kinds.map(([status, codes]) => [nameOfErrors(status, codes), toErrorResponse(status, codes)]))
}

const writeHeaders = () =>
  Object.fromEntries(Object.entries(HEADERS).map(([name, header]) => [name, { ...header, schema: toJsonSchema(header.schema) }]))

const apiKey = {
  type: 'http',
  scheme: 'bearer',
  description: `An API key. Scopes: ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}; \`*\` grants all of them. \`admin:read\` reads the state of all accounts; only kubectl grants it.`,
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
  components: {
    securitySchemes: { apiKey },
    schemas: toComponents(),
    headers: writeHeaders(),
    responses: writeErrors(),
  },
})
