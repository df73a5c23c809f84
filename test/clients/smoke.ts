// A client that a user would write with openapi-typescript, openapi-fetch and only the OpenAPI document. The tests of clients copy it next
// to the generated schema.d.ts, compile it and run it.

import assert from 'node:assert/strict'
import createClient from 'openapi-fetch'
import type { components, paths } from './schema.d.ts'

const { TINTYPE_URL: baseUrl = '', TINTYPE_API_KEY: key = '' } = process.env
const headers = { Authorization: `Bearer ${key}` }
// The document says that the list parameter is separated by commas. openapi-fetch reads only the types, so it needs the serializer option.
const querySerializer = { array: { style: 'form', explode: false } } as const
const client = createClient<paths, 'application/json'>({ baseUrl, headers, querySerializer })

type Screenshot = components['schemas']['Screenshot']

async function screenshots(): Promise<void> {
  const created = await client.POST('/api/v1/screenshots', {
    body: {
      url: 'https://example.com/',
      options: { format: 'webp', viewport_width: 640, viewport_height: 480 },
      external_identifier: 'typescript',
    },
  })
  assert.equal(created.response.status, 202)
  const id = created.data?.id ?? ''
  let record: Screenshot | undefined
  while (record === undefined || record.status === 'pending') {
    const { data } = await client.GET('/api/v1/screenshots/{id}', { params: { path: { id }, query: { wait: 5 } } })
    record = data
  }
  assert.equal(record.format, 'webp')
  assert.equal(record.external_identifier, 'typescript')
  const list = await client.GET('/api/v1/screenshots', { params: { query: { limit: 5, status: ['completed', 'failed'] } } })
  assert.ok(
    list.data?.data.some((other) => other.id === id),
    JSON.stringify(list.error),
  )
  const batch = await client.POST('/api/v1/screenshots/batch', { body: { urls: ['https://example.com/1', 'https://example.com/2'] } })
  assert.equal(batch.data?.total, 2)
  const found = await client.GET('/api/v1/batches/{id}', { params: { path: { id: batch.data?.batch_id ?? '' } } })
  assert.equal(found.data?.data.screenshots.length, 2)
  const gone = await client.DELETE('/api/v1/screenshots/{id}', { params: { path: { id } } })
  assert.equal(gone.response.status, 204)
  const missing = await client.GET('/api/v1/screenshots/{id}', { params: { path: { id } } })
  assert.equal(missing.error?.error.code, 'NOT_FOUND')
}

async function keys(): Promise<void> {
  const created = await client.POST('/api/v1/keys', { body: { name: 'typescript', scopes: ['usage:read'], expires_in_days: 1 } })
  const { id = '', key: text } = created.data?.data ?? {}
  assert.ok(text)
  const other = createClient<paths, 'application/json'>({ baseUrl, headers: { Authorization: `Bearer ${text}` } })
  assert.equal((await other.GET('/api/v1/usage/current')).data?.success, true)
  assert.equal((await other.GET('/api/v1/keys')).error?.error.code, 'INSUFFICIENT_SCOPE')
  const changed = await client.PATCH('/api/v1/keys/{id}', { params: { path: { id } }, body: { is_active: false } })
  assert.equal(changed.data?.data.is_active, false)
  assert.equal((await client.DELETE('/api/v1/keys/{id}', { params: { path: { id } } })).response.status, 204)
}

async function webhooks(): Promise<void> {
  const created = await client.POST('/api/v1/webhooks', {
    body: { name: 'typescript', url: 'https://hooks.example.com/', events: ['screenshot.completed'] },
  })
  const { id = '', signing_secret: secret } = created.data?.data ?? {}
  assert.match(secret ?? '', /^whsec_/)
  const found = await client.GET('/api/v1/webhooks/{id}', { params: { path: { id } } })
  assert.equal(found.data?.data.statistics.total_deliveries, 0)
  const list = await client.GET('/api/v1/webhooks', { params: { query: { include_inactive: 'true' } } })
  assert.ok(list.data?.data.some((webhook) => webhook.id === id))
  assert.equal((await client.DELETE('/api/v1/webhooks/{id}', { params: { path: { id } } })).response.status, 204)
}

async function refusals(): Promise<void> {
  // @ts-expect-error the schema knows no such format
  const wrong = await client.POST('/api/v1/screenshots', { body: { url: 'https://example.com/', options: { format: 'bmp' } } })
  assert.equal(wrong.error?.error.code, 'VALIDATION_ERROR')
  assert.ok(Array.isArray(wrong.error?.error.details))
  const stranger = createClient<paths, 'application/json'>({ baseUrl })
  assert.equal((await stranger.GET('/api/v1/usage/current')).error?.error.code, 'UNAUTHORIZED')
  assert.equal((await stranger.GET('/api/v1/status')).data?.components.api.status, 'operational')
}

await screenshots()
await keys()
await webhooks()
await refusals()
console.log('TypeScript client: all checks passed')
