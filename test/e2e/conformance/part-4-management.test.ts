import t from 'tap'
import { createClusterAccount } from '../../support/cluster/accounts.ts'
import { call } from '../../support/cluster/api-client.ts'
import { createWebhook, type ErrorBody, type WebhookBody } from '../../support/cluster/conformance.ts'
import { eventually } from '../../support/eventually.ts'

// Parts 4.5 and 4.7 to 4.14: keys, webhook endpoints, status, usage. The test has its own account, so that lists contain only its objects.

interface Key {
  id: string
  name: string
  key?: string
  is_active: boolean
  scopes: string[]
}
interface Listed<T> {
  success: boolean
  data: T[]
  pagination: { limit: number; offset: number; total: number; has_more: boolean }
}

const { key } = await createClusterAccount(t, 'managed', { plan: 'growth' })
const ask = <T = ErrorBody>(path: string, method = 'GET', body?: unknown) => call<T>(`/api/v1${path}`, { method, body, key })
const isLetIn = async (text: string) => (await call('/api/v1/usage/current', { key: text })).status === 200
const url = 'https://hooks.example.com/in'
const full = { name: 'Hook', url, events: ['screenshot.completed'] }

t.test('spec 4.5: POST /v1/keys creates a key that works', async (t) => {
  const { status, body } = await ask<{ message: string; data: Key }>('/keys', 'POST', { name: 'Second', scopes: ['usage:read'] })
  t.equal(status, 201)
  t.match(body, { message: String, data: { id: /^key_/, name: 'Second', scopes: ['usage:read'], is_active: true } })
  await eventually('the key is accepted', () => isLetIn(body.data.key ?? ''))
})

t.test('spec 4.5: GET /v1/keys lists the keys, masked', async (t) => {
  const { status, body } = await eventually('the list contains both', async () => {
    const answer = await ask<Listed<Key>>('/keys')
    return answer.body.data.length === 2 && answer
  })
  t.equal(status, 200)
  t.match(body, { success: true, pagination: { limit: 100, offset: 0, total: 2, has_more: false } })
  t.ok(body.data.every((entry) => !('key' in entry)))
})

t.test('spec 4.5: PUT /v1/keys/:id updates a key', async (t) => {
  const { body } = await ask<{ data: Key }>('/keys', 'POST', { name: 'Third' })
  const { status, body: changed } = await ask<{ data: Key }>(`/keys/${body.data.id}`, 'PUT', { name: 'Renamed', is_active: false })
  t.equal(status, 200)
  t.match(changed, { message: String, data: { id: body.data.id, name: 'Renamed', is_active: false } })
  await eventually('the key is rejected', async () => !(await isLetIn(body.data.key ?? '')))
})

t.test('spec 4.5: DELETE /v1/keys/:id deletes a key, which is then rejected', async (t) => {
  const { body } = await ask<{ data: Key }>('/keys', 'POST', { name: 'Fourth' })
  const { status, body: answer } = await ask(`/keys/${body.data.id}`, 'DELETE')
  t.strictSame([status, answer], [204, ''])
  await eventually('the key is rejected', async () => !(await isLetIn(body.data.key ?? '')))
  t.equal((await ask(`/keys/${body.data.id}`)).status, 404)
})

t.test('spec 4.7: POST /v1/webhooks returns message and data', async (t) => {
  const { status, body, headers } = await createWebhook(t, full, key)
  t.equal(status, 201)
  t.match(body, { message: 'Webhook created successfully', data: { ...full, description: null, is_active: true } })
  t.equal(headers.get('location'), `/api/v1/webhooks/${body.data.id}`)
})

for (const [sentence, changes, path] of [
  ['spec 4.7: name is required', { name: undefined }, 'name'],
  ['spec 4.7: url is required', { url: undefined }, 'url'],
  ['spec 4.7: events is required', { events: undefined }, 'events'],
  ['spec 4.7: url must start with https://, HTTP addresses are rejected', { url: 'http://hooks.example.com/in' }, 'url'],
  ['spec 4.7: events has at least one event type', { events: [] }, 'events'],
  ['spec 4.7: events has event types of part 6 only', { events: ['screenshot.deleted'] }, 'events[0]'],
] as const) {
  t.test(sentence, async (t) => {
    const { status, body } = await createWebhook<ErrorBody>(t, { ...full, ...changes }, key)
    t.equal(status, 400)
    t.match(body, { success: false, error: { code: 'VALIDATION_ERROR', details: [{ path }] } })
  })
}

t.test('spec 4.7: description and is_active are optional', async (t) => {
  const { body } = await createWebhook(t, { ...full, description: 'For people', is_active: false }, key)
  t.match(body.data, { description: 'For people', is_active: false })
})

const listed = async (query = '') => (await ask<Listed<WebhookBody>>(`/webhooks${query}`)).body

t.test('spec 4.8: GET /v1/webhooks lists webhooks, limit 100 and offset 0 by default', async (t) => {
  const made = await Promise.all([1, 2, 3].map((n) => createWebhook(t, { ...full, name: `Listed ${n}` }, key)))
  const body = await eventually('the list contains them', async () => {
    const answer = await listed()
    return made.every((hook) => answer.data.some(({ id }) => id === hook.body.data.id)) && answer
  })
  t.match(body, { success: true, pagination: { limit: 100, offset: 0, has_more: false, total: body.data.length } })
  t.ok(body.data.every((hook) => !('signing_secret' in hook)))
})

t.test('spec 4.8: include_inactive is false by default', async (t) => {
  const { body } = await createWebhook(t, { ...full, is_active: false }, key)
  const has = async (query: string) => (await listed(query)).data.some(({ id }) => id === body.data.id)
  await eventually('the webhook is listed', () => has('?include_inactive=true'))
  t.notOk(await has(''))
})

t.test('spec 4.8: limit and offset select a page of results', async (t) => {
  await Promise.all([1, 2, 3].map(() => createWebhook(t, full, key)))
  const all = await eventually('three webhooks are listed', async () => {
    const { data } = await listed()
    return data.length >= 3 && data.map(({ id }) => id)
  })
  t.strictSame(
    (await listed('?limit=1')).data.map(({ id }) => id),
    all.slice(0, 1),
  )
  t.strictSame(
    (await listed('?limit=1&offset=1')).data.map(({ id }) => id),
    all.slice(1, 2),
  )
  t.equal((await listed('?limit=9999')).pagination.limit, 500)
})

t.test('spec 4.9: GET /v1/webhooks/:id returns the webhook with delivery statistics', async (t) => {
  const { body: made } = await createWebhook(t, full, key)
  const { status, body } = await ask<{ data: WebhookBody }>(`/webhooks/${made.data.id}`)
  t.equal(status, 200)
  t.match(body, { success: true, data: { id: made.data.id, ...full, statistics: { total_deliveries: 0 } } })
})

t.test('spec 4.10: PATCH and PUT update name, url, events and is_active, all optional', async (t) => {
  const { body: made } = await createWebhook(t, full, key)
  const changes = [{ name: 'New' }, { url: `${url}/2` }, { events: ['video.failed'] }, { is_active: false }, { description: 'New' }]
  for (const method of ['PATCH', 'PUT']) {
    for (const change of changes) {
      const { status, body } = await ask<{ data: WebhookBody }>(`/webhooks/${made.data.id}`, method, change)
      t.equal(status, 200)
      t.match(body, { message: String, data: { id: made.data.id, ...change } })
    }
  }
})

t.test('spec 4.10: the url of an update must be HTTPS', async (t) => {
  const { body: made } = await createWebhook(t, full, key)
  const { status, body } = await ask(`/webhooks/${made.data.id}`, 'PATCH', { url: 'http://hooks.example.com/' })
  t.equal(status, 400)
  t.match(body.error.details, [{ path: 'url', code: 'https_required' }])
  t.equal((await ask(`/webhooks/${made.data.id}`, 'PATCH', {})).status, 400, 'an empty body changes nothing')
})

t.test('spec 4.11: DELETE /v1/webhooks/:id deletes the webhook permanently and returns an empty body', async (t) => {
  const { body: made } = await createWebhook(t, full, key)
  const { status, body } = await ask(`/webhooks/${made.data.id}`, 'DELETE')
  t.strictSame([status, body], [204, ''])
  t.equal((await ask(`/webhooks/${made.data.id}`)).status, 404)
  t.equal((await ask(`/webhooks/${made.data.id}`, 'DELETE')).status, 404)
})

t.test('spec 4.13: GET /v1/status is public', async (t) => {
  const { status, body } = await call('/v1/status', { key: null })
  t.equal(status, 200)
  t.match(body, { status: String, version: String, components: Object })
})

t.test('spec 4.14: GET /v1/usage/current reports the usage', async (t) => {
  const { status, body } = await ask<{ data: object }>('/usage/current')
  t.equal(status, 200)
  t.match(body, { success: true, data: { count: 0, limit: 10_000, percentage: 0, remaining: 10_000, plan: 'growth' } })
})
