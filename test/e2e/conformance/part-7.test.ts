import t, { type Test } from 'tap'
import { chargeAccount, createClusterAccount } from '../../support/cluster/accounts.ts'
import { createAndForget, createWebhook, rest, restOf } from '../../support/cluster/conformance.ts'
import { kubectl } from '../../support/cluster/environment.ts'
import { eventually } from '../../support/eventually.ts'
import { page } from '../../support/servers/pages.ts'

// Errors. Two accounts on the free plan exhaust their quota of 100 screenshots.

interface Job {
  id: string
  url: string
  status: string
}

const url = page('/quadrants')
const held = { delay: 60_000 }
const usageOf = async (key: string) => (await restOf(key)('GET', '/usage/current')).body.data

t.test('spec 7.1: an exhausted quota is 429 USAGE_LIMIT_REACHED', async (t) => {
  const account = await createClusterAccount(t, 'spent', { plan: 'free' })
  const { key } = account
  await chargeAccount(account, 99)
  const last = await createAndForget(t, { url, options: held }, key)
  t.equal(last.status, 202)
  const { status, body: refused, headers } = await createAndForget(t, { url }, key)
  t.equal(status, 429)
  t.match(refused, { success: false, error: { code: 'USAGE_LIMIT_REACHED', message: /usage limit was reached/ } })
  t.match(refused.error.details, { limit: 100, used: 100, reset_at: /^\d{4}-\d{2}-01T00:00:00\.000Z$/ })
  t.strictSame([headers.get('retry-after'), headers.get('x-should-retry')], [null, 'false'])
  t.strictSame([headers.get('x-quota-limit'), headers.get('x-quota-remaining')], ['100', '0'])
  await restOf(key)('DELETE', `/screenshots/${last.body.id}`)
  const told = await eventually('the usage is reported', async () => {
    const usage = await usageOf(key)
    return usage.count !== 99 && usage
  })
  t.match(told, { count: 100, limit: 100, percentage: 100, remaining: 0 }, 'deletion does not refund')
})

const partial = await createClusterAccount(t, 'partial', { plan: 'free' })
await chargeAccount(partial, 97)
const restOfPartial = restOf(partial.key)
const partly = await restOfPartial('POST', '/screenshots/batch', { urls: Array.from({ length: 5 }, () => url) })
const { screenshots, failed_jobs: jobs = [] } = partly.body as { screenshots: Job[]; failed_jobs?: Job[] }
t.teardown(() => Promise.all(screenshots.map(({ id }) => restOfPartial('DELETE', `/screenshots/${id}`))))

t.test('spec 7.2: a batch with enqueue failures has no error status, and reports them in its body', async (t) => {
  t.equal(partly.status, 202)
  t.match(partly.body, { total: 5, successful: 3, failed: 2, failed_jobs: [{ error: /^USAGE_LIMIT_REACHED: / }, {}] })
})

t.test('spec 2.4: failed_jobs and warning are present when jobs failed to enqueue, with id, url and error', async (t) => {
  t.match(partly.body.warning, /2 of 5/)
  t.strictSame(
    jobs.map((job) => [Object.keys(job), job.id, job.url]),
    screenshots.slice(3).map(({ id }) => [['id', 'url', 'error'], id, url]),
  )
})

t.test('spec 3.1: a job of a batch that could not be enqueued is failed', async (t) => {
  t.strictSame(
    screenshots.map(({ status }) => status),
    ['pending', 'pending', 'pending', 'failed', 'failed'],
  )
  t.equal(jobs.length, 2)
  for (const { id } of jobs) {
    const { body: record } = await restOfPartial('GET', `/screenshots/${id}`)
    t.match(record, { id, status: 'failed', error: { code: 'USAGE_LIMIT_REACHED' }, download_url: null })
  }
  await eventually('the failed job is not charged', async () => (await usageOf(partial.key)).count === 100)
})

t.test('spec 4.6: when some jobs fail to enqueue, the response still carries every item', async (t) => {
  t.equal(screenshots.length, 5)
  t.equal(partly.body.total, 5)
})

t.test('spec 7.3: a webhook url that is not HTTPS is rejected', async (t) => {
  const { status, body } = await createWebhook(t, { url: 'http://hooks.example.com/in' })
  t.equal(status, 400)
  t.match(body.error, { code: 'VALIDATION_ERROR', details: [{ path: 'url', code: 'https_required' }] })
})

const unknown = 'scr_7zzzzzzzzzzzzzzzzzzzzzzzzz'
const others: [sentence: string, ask: (t: Test) => ReturnType<typeof rest>, status: number, code: string][] = [
  ['spec 7.5: a missing key is 401 UNAUTHORIZED', () => restOf(null)('GET', '/keys'), 401, 'UNAUTHORIZED'],
  ['spec 7.5: an invalid key is 401 INVALID_API_KEY', () => restOf(`ttk_${'0'.repeat(36)}`)('GET', '/keys'), 401, 'INVALID_API_KEY'],
  ['spec 7.5: a validation error is 400 VALIDATION_ERROR', () => rest('POST', '/screenshots', { url: 1 }), 400, 'VALIDATION_ERROR'],
  ['spec 7.5: an unknown id is 404 NOT_FOUND', () => rest('GET', `/screenshots/${unknown}`), 404, 'NOT_FOUND'],
  ['spec 7.5: a malformed id is 404 NOT_FOUND', () => rest('GET', '/webhooks/nonsense'), 404, 'NOT_FOUND'],
  ['spec 7.5: an unknown path is 404 NOT_FOUND', () => rest('GET', '/nothing'), 404, 'NOT_FOUND'],
  [
    'spec 7.5: a private address is 400 URL_NOT_ALLOWED',
    () => rest('POST', '/screenshots', { url: 'http://169.254.169.254/' }),
    400,
    'URL_NOT_ALLOWED',
  ],
  [
    'spec 7.5: a body that is not JSON is 415 UNSUPPORTED_MEDIA_TYPE',
    () => rest('POST', '/screenshots', 'url=x', { 'content-type': 'text/plain' }),
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ],
  [
    'spec 7.5: a file that is not ready yet is 409 NOT_READY',
    async (t) => {
      const { body } = await createAndForget(t, { url, options: held })
      return rest('GET', `/screenshots/${body.id}/download`)
    },
    409,
    'NOT_READY',
  ],
  [
    'spec 7.5: the file of a failed capture is 422 CAPTURE_FAILED',
    () => rest('POST', '/screenshots', { url: page('/hang-up') }, { accept: 'image/*' }),
    422,
    'CAPTURE_FAILED',
  ],
]

for (const [sentence, ask, wanted, code] of others) {
  t.test(sentence, async (t) => {
    const { status, body, headers } = await ask(t)
    t.equal(status, wanted)
    t.match(body, { success: false, error: { code, message: /\S{2,}/, request_id: headers.get('x-request-id') ?? 'none' } })
    t.match(headers.get('content-type'), /^application\/json/)
  })
}

t.test('spec 7.5: a wrong method is 405 METHOD_NOT_ALLOWED with Allow, and OPTIONS returns Allow', async (t) => {
  const { status, body, headers } = await rest('POST', '/status')
  t.strictSame([status, body.error.code, headers.get('allow')], [405, 'METHOD_NOT_ALLOWED', 'GET, HEAD, OPTIONS'])
  const options = await rest('OPTIONS', '/status')
  t.strictSame([options.status, options.headers.get('allow')], [204, 'GET, HEAD, OPTIONS'])
})

t.test('spec 7.5: a suspended account is 403 ACCOUNT_SUSPENDED', async (t) => {
  const { name, key } = await createClusterAccount(t, 'suspended', { plan: 'free' })
  await kubectl(['patch', 'account', name, '--type=merge', '-p', '{"spec":{"suspended":true}}'])
  const { body } = await eventually('the account is suspended', async () => {
    const answer = await restOf(key)('GET', '/usage/current')
    return answer.status === 403 && answer
  })
  t.equal(body.error.code, 'ACCOUNT_SUSPENDED')
})

t.test('spec 7.5: an Idempotency-Key creates once, and is rejected with another body', async (t) => {
  const headers = { 'idempotency-key': `conformance-${Date.now()}` }
  const create = (body: object) => rest('POST', '/screenshots', body, headers)
  const first = await create({ url, options: held })
  const second = await create({ url, options: held })
  t.strictSame(second.body, first.body)
  t.equal(second.headers.get('idempotent-replayed'), 'true')
  const other = await create({ url: page('/dark') })
  t.strictSame([other.status, other.body.error.code], [422, 'IDEMPOTENCY_KEY_REUSED'])
  await rest('DELETE', `/screenshots/${first.body.id}`)
})
