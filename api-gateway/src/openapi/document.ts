import { SCOPES } from '@tintype/crds/kinds/api-key'
import { EVENTS as EVENT_ROWS, EVENT_TYPES, type EventSubject, type EventType, eventTypesOf } from '@tintype/crds/schema/event-types'
import { anId, instant } from '@tintype/crds/schema/fields'
import { z } from 'zod'
import { API_VERSION } from '../common/version.ts'
import { name } from '../http/fields.ts'
import { HEADERS } from '../http/headers.ts'
import type { Operation, Tag } from '../http/route.ts'
import { routes } from '../resources/all.ts'
import { completed, completedVideo, created, createdVideo, failed, failedVideo } from '../resources/screenshots/examples.ts'
import { ScreenshotRecord, VideoRecord } from '../resources/screenshots/schemas.ts'
import { errorsOf, nameOfErrors, refTo, toComponents, toErrorResponse, toJsonSchema, writeOperation } from './operations.ts'

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

// The events that are posted to webhook endpoints. They are part of the API although they are not routes.

const test = z.literal(true).describe('Present only in test events.').optional()
const envelopeOf = (subject: EventSubject, data: z.ZodType) =>
  z.object({
    id: anId('evt', 'Id of the event. It is the same for every attempt and every endpoint.'),
    type: z.enum(eventTypesOf(subject)),
    created_at: instant('Time of the event.'),
    data,
  })

export const Event = name(
  'Event',
  envelopeOf('screenshot', z.object({ test, screenshot: ScreenshotRecord })).describe('Body of a post to an endpoint.'),
)
export const VideoEvent = name(
  'VideoEvent',
  envelopeOf('video', z.object({ test, video: VideoRecord })).describe('Body of a post to an endpoint about a video.'),
)

const pending = {
  ...failed,
  ...created,
  started_at: null,
  completed_at: null,
  processing_duration_ms: null,
  error: null,
  attempts: 0,
}

const RECORDS = {
  screenshot: { pending, completed, failed },
  video: { pending: createdVideo, completed: completedVideo, failed: failedVideo },
}

interface DocumentedEvent {
  type: EventType
  summary: string
  schema: z.ZodType
  example: object
}

/** One example per event type. */
export const EVENTS = EVENT_TYPES.map((type): DocumentedEvent => {
  const { summary, subject, example } = EVENT_ROWS[type]
  const data = { [subject]: RECORDS[subject][example] }
  return {
    type,
    summary,
    schema: subject === 'video' ? VideoEvent : Event,
    example: { id: 'evt_01kajq2v0vtz8m3c5x7r9w4n6p', type, created_at: '2026-11-21T10:00:02.004Z', data },
  }
})

const header = (headerName: string, description: string, example: string) => ({
  name: headerName,
  in: 'header',
  required: true,
  description,
  schema: toJsonSchema(z.string()),
  example,
})

const headers = [
  header(
    'X-Webhook-Signature',
    'HMAC-SHA256 of the body in lower-case hexadecimal. The key is the complete signing secret as text.',
    '5d61d6a5c1c6b2f0a4c1e6ea6f3ad4f5c0bb1fd4a0f3b2b31f3e7d6a0c9f8e7d',
  ),
  header('webhook-id', 'Id of the event, for detecting duplicates.', 'evt_01kajq2v0vtz8m3c5x7r9w4n6p'),
  header('webhook-timestamp', 'Unix time of this attempt.', '1795255202'),
  header(
    'webhook-signature',
    'Signature according to Standard Webhooks: `v1,` and base64, one for each active secret.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
  header('X-Webhook-Event', 'Type of the event.', 'screenshot.completed'),
]

/** The events as callbacks of the request that creates an endpoint. */
export function writeEvents() {
  const entries = EVENTS.map(({ type, summary, schema, example }) => {
    const content = { 'application/json': { schema: refTo(schema), example } }
    const post = {
      operationId: `on${type.replaceAll(/(?:^|\.)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`,
      tags: ['Webhooks'],
      summary,
      description: 'Respond with 2xx within 5 seconds. Otherwise the delivery is retried, with three attempts in total.',
      parameters: headers,
      requestBody: { required: true, content },
      responses: { '2XX': { description: 'Accepted.' } },
    }
    return [type, { '{$request.body#/url}': { post } }] as const
  })
  return Object.fromEntries(entries)
}
