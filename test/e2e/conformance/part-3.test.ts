import t from 'tap'
import { call, capture, finished, type RecordBody } from '../../support/cluster/api-client.ts'
import { createAndForget, createWebhook, type WebhookBody } from '../../support/cluster/conformance.ts'
import { page } from '../../support/servers/pages.ts'

// States. part-6.test.ts tests their events.

const url = page('/quadrants')
const held = { delay: 60_000 }
const statusOf = async (id: string) => (await call<RecordBody>(`/api/v1/screenshots/${id}`)).body.status

t.test('spec 3.1: a job that is accepted is pending', async (t) => {
  const { body } = await createAndForget(t, { url, options: held })
  t.equal(body.status, 'pending')
  t.equal(await statusOf(body.id), 'pending')
})

t.test('spec 3.1: a job of a batch that is enqueued is pending, one job per URL', async (t) => {
  const { body } = await call<{ screenshots: RecordBody[] }>('/api/v1/screenshots/batch', {
    method: 'POST',
    body: { urls: [url, url, page('/dark')], options: held },
  })
  t.teardown(() => Promise.all(body.screenshots.map(({ id }) => call(`/api/v1/screenshots/${id}`, { method: 'DELETE' }))))
  t.equal(new Set(body.screenshots.map(({ id }) => id)).size, 3)
  for (const { id } of body.screenshots) t.equal(await statusOf(id), 'pending')
})

t.test('spec 3.1: pending becomes completed when the capture succeeds, and download_url is available', async (t) => {
  const record = await capture(url)
  t.match(record, { status: 'completed', error: null })
  t.equal((await fetch(record.download_url ?? '')).status, 200)
})

t.test('spec 3.1: pending becomes failed when the capture does not complete', async (t) => {
  const record = await capture(page('/hang-up'))
  t.match(record, { status: 'failed', download_url: null, error: { code: 'NAVIGATION_FAILED', message: /.{10}/ } })
})

t.test('spec 3.1: there is no intermediate state, and started_at shows that a capture is running', { timeout: 180_000 }, async (t) => {
  const { body } = await createAndForget(t, { url, options: { delay: 3_000 } })
  let record: RecordBody = body
  const seen = new Set<string>()
  while (record.status === 'pending') {
    record = (await call<RecordBody>(`/api/v1/screenshots/${body.id}`)).body
    seen.add(`${record.status} ${record.started_at === null ? 'waits' : 'started'}`)
  }
  t.ok(seen.has('pending started'), [...seen].join())
  t.ok(seen.has('completed started'), [...seen].join())
})

t.test('spec 3.1: DELETE of a pending job cancels it', async (t) => {
  const { body } = await createAndForget(t, { url, options: held })
  t.equal((await call(`/api/v1/screenshots/${body.id}`, { method: 'DELETE' })).status, 204)
  t.equal((await call(`/api/v1/screenshots/${body.id}`)).status, 404)
})

t.test('spec 3.1: a final state does not change', async (t) => {
  const record = await capture(url)
  t.equal((await finished(record.id)).status, 'completed')
})

t.test('spec 3.2: operational means that everything works normally', async (t) => {
  const { body } = await call<{ status: string; components: Record<string, { status: string }> }>('/v1/status', { key: null })
  t.equal(body.status, 'operational')
  for (const { status } of Object.values(body.components)) t.equal(status, 'operational')
})

const listed = async (query = ''): Promise<string[]> => {
  const { body } = await call<{ data: WebhookBody[] }>(`/api/v1/webhooks${query}`)
  return body.data.map(({ id }) => id)
}

t.test('spec 3.3: is_active is set on creation and by update', async (t) => {
  const { body } = await createWebhook(t, { is_active: false })
  t.equal(body.data.is_active, false)
  for (const is_active of [true, false]) {
    const { body: updated } = await call<{ data: WebhookBody }>(`/api/v1/webhooks/${body.data.id}`, {
      method: 'PATCH',
      body: { is_active },
    })
    t.equal(updated.data.is_active, is_active)
  }
})

t.test('spec 3.3: an inactive webhook is omitted from the list unless include_inactive is true', async (t) => {
  const { body } = await createWebhook(t, { is_active: false })
  const { id } = body.data
  t.notOk((await listed()).includes(id))
  t.notOk((await listed('?include_inactive=false')).includes(id))
  t.ok((await listed('?include_inactive=true')).includes(id))
})
