import t from 'tap'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import { aGateway, NOW } from '../../fakes.ts'

const urls = [1, 2, 3].map((n) => `https://example.com/${n}`)

t.test('POST /screenshots/batch rejects the whole batch for an invalid url, and creates and charges nothing', async (t) => {
  const { app, headers, screenshots, quota } = aGateway()
  const payload = { urls: [...urls, 'http://10.0.0.1/'] }
  const response = await app.inject({ method: 'POST', url: '/v1/screenshots/batch', headers, payload })
  t.match(response.json(), { error: { code: 'URL_NOT_ALLOWED', details: [{ path: 'urls[3]' }] } })
  t.equal(screenshots.objects.size, 0)
  t.equal(quota.facts({ metadata: { name: 'acme' }, spec: { plan: 'scale' } } as never, NOW).used, 0)
})

t.test('GET /batches/:id counts the items by outcome, without deleted ones', async (t) => {
  const { app, headers, screenshots } = aGateway()
  const made = await app.inject({ method: 'POST', url: '/v1/screenshots/batch', headers, payload: { urls, external_identifier: 'run-7' } })
  const { batch_id: id, screenshots: items } = made.json()
  t.equal(made.statusCode, 202)
  t.equal(made.headers.location, `/api/v1/batches/${id}`)
  const [first, second, third] = items.map((item: { id: string }) => item.id)
  const end = (one: string, status: object) => {
    const shot = screenshots.objects.get(one)!
    t.match(shot.spec, { batchId: id, externalIdentifier: 'run-7' })
    screenshots.put({ ...shot, status: { ...status, completionTime: NOW.toISOString() } as never })
  }
  end(first, { phase: 'Completed', result: { sizeBytes: 1 } })
  end(second, { phase: 'Failed', result: { error: { code: 'DNS_FAILED', message: 'no such host' } } })
  const read = async () => (await app.inject({ url: `/v1/batches/${id}`, headers })).json()
  t.match(await read(), {
    success: true,
    data: {
      ...{ batch_id: id, created_at: NOW.toISOString(), total: 3, pending: 1, completed: 1, failed: 1 },
      screenshots: [{ id: first, url_to_capture: urls[0] }, { id: second }, { id: third, status: 'pending' }],
    },
  })
  screenshots.objects.delete(first)
  t.match(await read(), { data: { total: 2, completed: 0 } })
})

t.test('GET /batches/:id returns the same 404 for a batch of another account as for an unknown one', async (t) => {
  const { app, headers, archive } = aGateway()
  const foreign = newId('batch', NOW)
  await archive.putBatch('other', foreign, [newId('scr', NOW)])
  for (const id of [foreign, newId('batch', NOW), 'nonsense']) {
    const response = await app.inject({ url: `/v1/batches/${id}`, headers })
    t.match([response.statusCode, response.json().error], [404, { code: 'NOT_FOUND', message: 'batch not found' }], id)
  }
})
