import t from 'tap'
import { chargeAccount, createClusterAccount } from '../../support/cluster/accounts.ts'
import { createAndForget, rest, restOf } from '../../support/cluster/conformance.ts'
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

const others: [sentence: string, ask: () => ReturnType<typeof rest>, status: number, code: string][] = [
  ['spec 7.5: a missing key is 401 UNAUTHORIZED', () => restOf(null)('GET', '/keys'), 401, 'UNAUTHORIZED'],
  ['spec 7.5: an invalid key is 401 INVALID_API_KEY', () => restOf(`ttk_${'0'.repeat(36)}`)('GET', '/keys'), 401, 'INVALID_API_KEY'],
  [
    'spec 7.5: a private address is 400 URL_NOT_ALLOWED',
    () => rest('POST', '/screenshots', { url: 'http://169.254.169.254/' }),
    400,
    'URL_NOT_ALLOWED',
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
    const { status, body, headers } = await ask()
    t.equal(status, wanted)
    t.match(body, { success: false, error: { code, message: /\S{2,}/, request_id: headers.get('x-request-id') ?? 'none' } })
    t.match(headers.get('content-type'), /^application\/json/)
  })
}

t.test('spec 7.5: a suspended account is 403 ACCOUNT_SUSPENDED', async (t) => {
  const { name, key } = await createClusterAccount(t, 'suspended', { plan: 'free' })
  await kubectl(['patch', 'account', name, '--type=merge', '-p', '{"spec":{"suspended":true}}'])
  const { body } = await eventually('the account is suspended', async () => {
    const answer = await restOf(key)('GET', '/usage/current')
    return answer.status === 403 && answer
  })
  t.equal(body.error.code, 'ACCOUNT_SUSPENDED')
})
