import t from 'tap'
import { isBatchId, isScreenshotId } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { eventually } from '../../support/eventually.ts'
import { call } from './client.ts'
import { complete, fail } from './runner-role.ts'
import { startWorld } from './world.ts'

const world = await startWorld()
t.teardown(() => world.stop())
await world.createAccount('acme')
await world.createAccount('other')
const [key, otherKey] = [await world.createKey({ accountName: 'acme' }), await world.createKey({ accountName: 'other' })]
const gateway = await world.startGateway()
const api = `${gateway.url}/api/v1`

const batch = (body: object, headers: Record<string, string> = {}, bearer = key) =>
  call(`${api}/screenshots/batch`, { method: 'POST', key: bearer, body, headers })
const pagesOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `https://example.com/${index}`)
const usedBy = async (account: string): Promise<number> => (await world.usages.get(account)).status?.used ?? 0
const liveOf = async (account: string) => {
  const { items } = await world.screenshots.list()
  return items.filter(({ spec }) => spec.accountName === account)
}

t.test('POST /screenshots/batch creates a job for every url in the order of the request, also for duplicates', async (t) => {
  const urls = [...pagesOf(3), 'https://example.com/0']
  const { status, headers, body } = await batch({ urls, options: { full_page: true, external_identifier: 'run-7' } })
  t.equal(status, 202)
  t.strictSame(Object.keys(body), ['batch_id', 'screenshots', 'total', 'successful', 'failed', 'estimated_time'])
  t.match(body, { total: 4, successful: 4, failed: 0, estimated_time: /^\d+-\d+s$/ })
  t.ok(isBatchId(body.batch_id))
  t.equal(headers.get('location'), `/api/v1/batches/${body.batch_id}`)
  t.strictSame(
    body.screenshots.map((item: { url_to_capture: string }) => item.url_to_capture),
    urls,
  )
  for (const item of body.screenshots) {
    t.strictSame(Object.keys(item), ['id', 'url_to_capture', 'status', 'created_at'])
    t.ok(isScreenshotId(item.id))
    const { spec } = await world.screenshots.get(toObjectName(item.id))
    t.match(spec, { url: item.url_to_capture, batchId: body.batch_id, externalIdentifier: 'run-7', options: { fullPage: true } })
  }
})

t.test('POST /screenshots/batch accepts 1 to 100 urls', async (t) => {
  t.equal((await batch({ urls: [] })).status, 400)
  t.match((await batch({ urls: pagesOf(101) })).body, { error: { code: 'VALIDATION_ERROR', details: [{ path: 'urls' }] } })
  t.match((await batch({ urls: pagesOf(100) })).body, { total: 100, successful: 100 })
})

t.test('POST /screenshots/batch rejects the whole batch for an invalid url, and creates and charges nothing', async (t) => {
  const before = [await usedBy('acme'), (await liveOf('acme')).length]
  const { status, body } = await batch({ urls: ['https://example.com/', 'ftp://a', 'https://example.com/', 'http://10.0.0.1/'] })
  t.equal(status, 400)
  t.match(body.error.details, [{ path: 'urls[1]' }, { path: 'urls[3]', code: 'url_not_allowed' }])
  t.strictSame([await usedBy('acme'), (await liveOf('acme')).length], before)
})

t.test('POST /screenshots/batch fills the quota exactly, and records the rest as failed without a charge', async (t) => {
  await world.createAccount('small', {}, { limit: 7 })
  const small = await world.createKey({ accountName: 'small' })
  t.match((await batch({ urls: pagesOf(5) }, {}, small)).body, { successful: 5 })
  const { status, body } = await batch({ urls: pagesOf(5) }, {}, small)
  t.equal(status, 202)
  t.match(body, { total: 5, successful: 2, failed: 3, warning: String })
  t.strictSame(
    body.screenshots.map((item: { status: string }) => item.status),
    ['pending', 'pending', 'failed', 'failed', 'failed'],
  )
  t.strictSame(
    body.failed_jobs.map((job: { id: string }) => job.id),
    body.screenshots.slice(2).map((item: { id: string }) => item.id),
  )
  for (const job of body.failed_jobs) {
    t.match(job, { url: /^https:/, error: /^USAGE_LIMIT_REACHED: / })
    const { body: record } = await call(`${api}/screenshots/${job.id}`, { key: small })
    t.match(record, { id: job.id, status: 'failed', batch_id: body.batch_id, error: { code: 'USAGE_LIMIT_REACHED' }, download_url: null })
  }
  t.equal(await usedBy('small'), 7)
  const full = await batch({ urls: pagesOf(2) }, {}, small)
  t.match([full.status, full.body], [429, { success: false, error: { code: 'USAGE_LIMIT_REACHED', message: /usage limit/ } }])
  t.equal((await liveOf('small')).length, 7)
})

t.test('GET /batches/:id counts the items by outcome', async (t) => {
  const { body: made } = await batch({ urls: pagesOf(3) })
  const [first, second] = made.screenshots.map((item: { id: string }) => item.id)
  await complete(first, Buffer.from('a picture'), world)
  await fail(second, { code: 'DNS_FAILED', message: 'no such host' }, world)
  const { status, body } = await eventually('the batch reports both outcomes', async () => {
    const response = await call(`${api}/batches/${made.batch_id}`, { key })
    return response.body.data.pending === 1 && response
  })
  t.equal(status, 200)
  t.match(body, { success: true, data: { batch_id: made.batch_id, total: 3, pending: 1, completed: 1, failed: 1, created_at: String } })
  t.match(body.data.screenshots, [{ id: first, status: 'completed', download_url: String }, { id: second }, { status: 'pending' }])
  t.equal((await call(`${api}/screenshots/${first}`, { method: 'DELETE', key })).status, 204)
  t.match((await call(`${api}/batches/${made.batch_id}`, { key })).body, { data: { total: 2, completed: 0 } })
})

t.test('GET /batches/:id returns the same 404 for a batch of another account as for an unknown one', async (t) => {
  const { body: made } = await batch({ urls: pagesOf(1) })
  const responses = [
    await call(`${api}/batches/${made.batch_id}`, { key: otherKey }),
    await call(`${api}/batches/${made.batch_id.replace(/.$/, made.batch_id.endsWith('0') ? '1' : '0')}`, { key }),
    await call(`${api}/batches/nonsense`, { key }),
  ]
  for (const { status, body } of responses) t.match([status, body.error.code], [404, 'NOT_FOUND'])
})
