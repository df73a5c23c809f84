import t from 'tap'
import { call } from '../../support/cluster/api-client.ts'
import { createAndForget, rest, restOf } from '../../support/cluster/conformance.ts'
import { eventually } from '../../support/eventually.ts'
import { page } from '../../support/servers/pages.ts'

// Part 1 (the service), part 9 (versioning), and the paths of all endpoints.

t.test('spec 1.0: paths are /v1/…, also under /api', async (t) => {
  const { body } = await createAndForget(t, { url: page('/quadrants') })
  for (const prefix of ['/v1', '/api/v1']) {
    t.equal((await call(`${prefix}/screenshots/${body.id}`)).status, 200)
    t.equal((await call(`${prefix}/status`, { key: null })).status, 200)
    t.equal((await call(`${prefix}/usage/current`)).status, 200)
  }
})

t.test('spec 1.2: creation returns at once with an id and status pending', async (t) => {
  const { status, body } = await createAndForget(t, { url: page('/quadrants'), options: { delay: 60_000 } })
  t.equal(status, 202)
  t.match(body, { id: /^scr_/, status: 'pending' })
})

t.test('spec 1.3: a client polls until the status is completed, then reads download_url', async (t) => {
  const { body } = await createAndForget(t, { url: page('/quadrants') })
  const seen = new Set<string>()
  const record = await eventually(
    'the capture ends',
    async () => {
      const { body: polled } = await rest('GET', `/screenshots/${body.id}`)
      seen.add(polled.status)
      return polled.status !== 'pending' && polled
    },
    90_000,
  )
  t.equal((await fetch(record.download_url ?? '')).status, 200)
  t.ok([...seen].every((status) => ['pending', 'completed'].includes(status)))
})

t.test('spec 9.1: the version is in the path prefix /v1', async (t) => {
  t.equal((await call('/api/v2/status', { key: null })).status, 404)
  t.equal((await call('/status', { key: null })).status, 404)
})

t.test('spec 9.2: the status field version is the API version in semantic-versioning form', async (t) => {
  const { version } = (await restOf(null)('GET', '/status')).body
  t.match(version, /^1\.\d+\.\d+$/)
  t.equal((await restOf(null)('GET', '/openapi.json')).body.info.version, version)
})
