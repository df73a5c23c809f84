import t from 'tap'
import { capture, finished } from '../../support/cluster/api-client.ts'
import { createAndForget, createWebhook, rest, restOf, type WebhookBody } from '../../support/cluster/conformance.ts'
import { page } from '../../support/servers/pages.ts'

// States. part-6.test.ts tests their events.

const url = page('/quadrants')
const held = { delay: 60_000 }
const read = async (id: string) => (await rest('GET', `/screenshots/${id}`)).body
const remove = (id: string) => rest('DELETE', `/screenshots/${id}`)

t.test('spec 3.1: a job that is accepted is pending', async (t) => {
  const { body } = await createAndForget(t, { url, options: held })
  t.equal(body.status, 'pending')
  t.equal((await read(body.id)).status, 'pending')
})

t.test('spec 3.1: a job of a batch that is enqueued is pending, one job per URL', async (t) => {
  const { body } = await rest('POST', '/screenshots/batch', { urls: [url, url, page('/dark')], options: held })
  const ids: string[] = body.screenshots.map(({ id }: { id: string }) => id)
  t.teardown(() => Promise.all(ids.map(remove)))
  t.equal(new Set(ids).size, 3)
  for (const id of ids) t.equal((await read(id)).status, 'pending')
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
  let record = body
  const seen = new Set<string>()
  while (record.status === 'pending') {
    record = await read(body.id)
    seen.add(`${record.status} ${record.started_at === null ? 'waits' : 'started'}`)
  }
  t.ok(seen.has('pending started'), [...seen].join())
  t.ok(seen.has('completed started'), [...seen].join())
})

t.test('spec 3.1: DELETE of a pending job cancels it', async (t) => {
  const { body } = await createAndForget(t, { url, options: held })
  t.equal((await remove(body.id)).status, 204)
  t.equal((await rest('GET', `/screenshots/${body.id}`)).status, 404)
})

t.test('spec 3.1: a final state does not change', async (t) => {
  const record = await capture(url)
  t.equal((await finished(record.id)).status, 'completed')
})

t.test('spec 3.2: operational means that everything works normally', async (t) => {
  const { status, components } = (await restOf(null)('GET', '/status')).body
  t.strictSame([status, components.database.status, components.storage.status, components.api.status], Array(4).fill('operational'))
})

const listed = async (query = ''): Promise<string[]> => (await rest('GET', `/webhooks${query}`)).body.data.map(({ id }: WebhookBody) => id)

t.test('spec 3.3: is_active is set on creation and by update', async (t) => {
  const { body } = await createWebhook(t, { is_active: false })
  t.equal(body.data.is_active, false)
  for (const is_active of [true, false]) {
    t.equal((await rest('PATCH', `/webhooks/${body.data.id}`, { is_active })).body.data.is_active, is_active)
  }
})

t.test('spec 3.3: an inactive webhook is omitted from the list unless include_inactive is true', async (t) => {
  const { body } = await createWebhook(t, { is_active: false })
  const { id } = body.data
  t.notOk((await listed()).includes(id))
  t.notOk((await listed('?include_inactive=false')).includes(id))
  t.ok((await listed('?include_inactive=true')).includes(id))
})
