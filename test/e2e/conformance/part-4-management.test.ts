import t from 'tap'
import { createClusterAccount } from '../../support/cluster/accounts.ts'
import { createWebhook, restOf, type WebhookBody } from '../../support/cluster/conformance.ts'
import { eventually } from '../../support/eventually.ts'

// Parts 4.5 and 4.7 to 4.14: keys, webhook endpoints, status, usage. The test has its own account, so that lists contain only its objects.

const { key } = await createClusterAccount(t, 'managed', { plan: 'growth' })
const rest = restOf(key)
const isLetIn = async (text: string) => (await restOf(text)('GET', '/usage/current')).status === 200
const whenRejected = (text: string) => eventually('the key is rejected', async () => !(await isLetIn(text)))
const url = 'https://hooks.example.com/in'
const full = { name: 'Hook', url, events: ['screenshot.completed'] }
/** Creates a webhook. Returns its path and its record. */
const hook = async (changes: object = {}) => {
  const { data } = (await createWebhook(t, { ...full, ...changes }, key)).body
  return { path: `/webhooks/${data.id}`, data }
}

t.test('spec 4.5: POST /v1/keys creates a key that works', async (t) => {
  const { status, body } = await rest('POST', '/keys', { name: 'Second', scopes: ['usage:read'] })
  t.equal(status, 201)
  t.match(body, { message: String, data: { id: /^key_/, name: 'Second', scopes: ['usage:read'], is_active: true } })
  await eventually('the key is accepted', () => isLetIn(body.data.key ?? ''))
})

t.test('spec 4.5: GET /v1/keys lists the keys, masked', async (t) => {
  const { status, body } = await eventually('the list contains both', async () => {
    const answer = await rest('GET', '/keys')
    return answer.body.data.length === 2 && answer
  })
  t.equal(status, 200)
  t.match(body, { success: true, pagination: { limit: 100, offset: 0, total: 2, has_more: false } })
  t.ok(body.data.every((entry: object) => !('key' in entry)))
})

t.test('spec 4.5: PUT /v1/keys/:id updates a key', async (t) => {
  const { data } = (await rest('POST', '/keys', { name: 'Third' })).body
  const { status, body } = await rest('PUT', `/keys/${data.id}`, { name: 'Renamed', is_active: false })
  t.equal(status, 200)
  t.match(body, { message: String, data: { id: data.id, name: 'Renamed', is_active: false } })
  await whenRejected(data.key)
})

t.test('spec 4.5: DELETE /v1/keys/:id deletes a key, which is then rejected', async (t) => {
  const { data } = (await rest('POST', '/keys', { name: 'Fourth' })).body
  const { status, body } = await rest('DELETE', `/keys/${data.id}`)
  t.strictSame([status, body], [204, ''])
  await whenRejected(data.key)
  t.equal((await rest('GET', `/keys/${data.id}`)).status, 404)
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
    const { status, body } = await createWebhook(t, { ...full, ...changes }, key)
    t.equal(status, 400)
    t.match(body, { success: false, error: { code: 'VALIDATION_ERROR', details: [{ path }] } })
  })
}

t.test('spec 4.7: description and is_active are optional', async (t) => {
  const given = { description: 'For people', is_active: false }
  t.match((await hook(given)).data, given)
})

const listed = async (query = ''): Promise<WebhookBody[]> => (await rest('GET', `/webhooks${query}`)).body.data
const idsIn = async (query: string) => (await listed(query)).map(({ id }) => id)

t.test('spec 4.8: GET /v1/webhooks lists webhooks, limit 100 and offset 0 by default', async (t) => {
  const made = await Promise.all([1, 2, 3].map((n) => hook({ name: `Listed ${n}` })))
  const body = await eventually('the list contains them', async () => {
    const answer = (await rest('GET', '/webhooks')).body
    return made.every(({ data }) => answer.data.some(({ id }: WebhookBody) => id === data.id)) && answer
  })
  t.match(body, { success: true, pagination: { limit: 100, offset: 0, has_more: false, total: body.data.length } })
  t.ok(body.data.every((each: WebhookBody) => !('signing_secret' in each)))
})

t.test('spec 4.8: include_inactive is false by default', async (t) => {
  const { data } = await hook({ is_active: false })
  await eventually('the webhook is listed', async () => (await idsIn('?include_inactive=true')).includes(data.id))
  t.notOk((await idsIn('')).includes(data.id))
})

t.test('spec 4.8: limit and offset select a page of results', async (t) => {
  await Promise.all([1, 2, 3].map(() => hook()))
  const all = await eventually('three webhooks are listed', async () => {
    const ids = await idsIn('')
    return ids.length >= 3 && ids
  })
  t.strictSame(await idsIn('?limit=1'), all.slice(0, 1))
  t.strictSame(await idsIn('?limit=1&offset=1'), all.slice(1, 2))
  t.equal((await rest('GET', '/webhooks?limit=9999')).body.pagination.limit, 500)
})

t.test('spec 4.9: GET /v1/webhooks/:id returns the webhook with delivery statistics', async (t) => {
  const { path, data } = await hook()
  const { status, body } = await rest('GET', path)
  t.equal(status, 200)
  t.match(body, { success: true, data: { id: data.id, ...full, statistics: { total_deliveries: 0 } } })
})

t.test('spec 4.10: PATCH and PUT update name, url, events and is_active, all optional', async (t) => {
  const { path, data } = await hook()
  for (const method of ['PATCH', 'PUT'])
    for (const change of [
      { name: 'New' },
      { url: `${url}/2` },
      { events: ['video.failed'] },
      { is_active: false },
      { description: 'New' },
    ]) {
      const { status, body } = await rest(method, path, change)
      t.equal(status, 200)
      t.match(body, { message: String, data: { id: data.id, ...change } })
    }
})

t.test('spec 4.10: the url of an update must be HTTPS', async (t) => {
  const { path } = await hook()
  const { status, body } = await rest('PATCH', path, { url: 'http://hooks.example.com/' })
  t.equal(status, 400)
  t.match(body.error.details, [{ path: 'url', code: 'https_required' }])
  t.equal((await rest('PATCH', path, {})).status, 400, 'an empty body changes nothing')
})

t.test('spec 4.11: DELETE /v1/webhooks/:id deletes the webhook permanently and returns an empty body', async (t) => {
  const { path } = await hook()
  const { status, body } = await rest('DELETE', path)
  t.strictSame([status, body], [204, ''])
  for (const method of ['GET', 'DELETE']) t.equal((await rest(method, path)).status, 404)
})

t.test('spec 4.13: GET /v1/status is public', async (t) => {
  const { status, body } = await restOf(null)('GET', '/status')
  t.equal(status, 200)
  t.match(body, { status: String, version: String, components: Object })
})

t.test('spec 4.14: GET /v1/usage/current reports the usage', async (t) => {
  const { status, body } = await rest('GET', '/usage/current')
  t.equal(status, 200)
  t.match(body, { success: true, data: { count: 0, limit: 10_000, percentage: 0, remaining: 10_000, plan: 'growth' } })
})
