import t from 'tap'
import { capture, finished } from '../../support/cluster/api-client.ts'
import { createAndForget, rest, restOf } from '../../support/cluster/conformance.ts'
import { page } from '../../support/servers/pages.ts'

// States. part-6.test.ts tests their events.

const url = page('/quadrants')
const read = async (id: string) => (await rest('GET', `/screenshots/${id}`)).body

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

t.test('spec 3.1: a final state does not change', async (t) => {
  const record = await capture(url)
  t.equal((await finished(record.id)).status, 'completed')
})

t.test('spec 3.2: operational means that everything works normally', async (t) => {
  const { status, components } = (await restOf(null)('GET', '/status')).body
  t.strictSame([status, components.database.status, components.storage.status, components.api.status], Array(4).fill('operational'))
})
