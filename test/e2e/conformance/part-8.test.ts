import t from 'tap'
import { chargeAccount, createClusterAccount, createClusterKey, thisMonth } from '../../support/cluster/accounts.ts'
import { createAndForget, createWebhook, rest, restOf } from '../../support/cluster/conformance.ts'
import { eventually } from '../../support/eventually.ts'
import { page } from '../../support/servers/pages.ts'

// Limits. Part 2 tests the bounds of options, part 4 those of batches, part 6 those of deliveries.

const url = page('/quadrants')
const held = { delay: 60_000 }
const usageOf = (key?: string) => restOf(key)('GET', '/usage/current')
const hook = { name: 'Hook', url: 'https://hooks.example.com/in', events: ['screenshot.completed'] }

t.test('spec 8: a webhook name has at most 100 characters, at creation and update', async (t) => {
  const { status, body } = await createWebhook(t, { ...hook, name: 'n'.repeat(100) })
  t.equal(status, 201)
  t.equal((await createWebhook(t, { ...hook, name: 'n'.repeat(101) })).status, 400)
  t.equal((await createWebhook(t, { ...hook, name: '' })).status, 400)
  const update = (name: string) => rest('PATCH', `/webhooks/${body.data.id}`, { name })
  t.equal((await update('m'.repeat(100))).status, 200)
  t.equal((await update('m'.repeat(101))).status, 400)
})

t.test('spec 8: a webhook description has at most 500 characters', async (t) => {
  t.equal((await createWebhook(t, { ...hook, description: 'd'.repeat(500) })).status, 201)
  t.equal((await createWebhook(t, { ...hook, description: 'd'.repeat(501) })).status, 400)
})

t.test('spec 8: the webhook list has limit 100 and offset 0 by default', async (t) => {
  t.match((await rest('GET', '/webhooks')).body.pagination, { limit: 100, offset: 0 })
})

const plans: [sentence: string, plan: 'free' | 'basic' | 'growth', quota: number, rate: number, price?: number][] = [
  ['spec 8: plan Free has 100 per month and 2 requests per minute, and an upgrade is required beyond', 'free', 100, 2],
  ['spec 8: plan Basic has 2,000 per month and 40 requests per minute, beyond $2 per 1,000', 'basic', 2000, 40, 2],
  ['spec 8: plan Growth has 10,000 per month and 80 requests per minute, beyond $1.50 per 1,000', 'growth', 10_000, 80, 1.5],
]

for (const [sentence, plan, quota, rate, price] of plans) {
  t.test(sentence, async (t) => {
    const { key } = await createClusterAccount(t, plan, { plan, overage: { enabled: true } })
    const { body, headers } = await usageOf(key)
    t.match(body.data, { plan, count: 0, limit: quota, remaining: quota, rate_limit_per_minute: rate })
    t.strictSame(body.data.overage, price === undefined ? undefined : { count: 0, unit_price_per_1000: price, amount: 0 })
    t.equal(headers.get('x-quota-limit'), String(quota))
    t.equal(headers.get('x-ratelimit-limit'), String(rate))
    t.equal(headers.get('ratelimit-policy'), `"per-minute";q=${rate};w=60`)
    const answers = await Promise.all(Array.from({ length: rate + 3 }, () => createAndForget(t, { url, options: held }, key)))
    t.equal(answers.filter(({ status }) => status === 202).length, rate, 'exactly the rate is accepted in a minute')
    t.equal(answers.filter(({ status }) => status === 429).length, 3)
    t.match((await usageOf(key)).body.data, { count: rate, remaining: quota - rate })
  })
}

t.test('spec 8.1: the quota is monthly and resets on the 1st at 00:00 UTC', async (t) => {
  const { body, headers } = await usageOf()
  const now = new Date()
  const next = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1))
  t.strictSame([body.data.period, body.data.reset_at], [now.toISOString().slice(0, 7), next.toISOString()])
  t.equal(headers.get('x-quota-reset'), String(next.getTime() / 1000))
})

t.test('spec 8.1: the count starts at zero each month, and nothing rolls over', async (t) => {
  const account = await createClusterAccount(t, 'month', { plan: 'free' })
  const { key } = account
  await chargeAccount(account, 40, '2020-02')
  const { body } = await usageOf(key)
  t.match(body.data, { period: thisMonth(), count: 0, limit: 100, remaining: 100 })
  const { status } = await createAndForget(t, { url, options: held }, key)
  t.equal(status, 202)
  await eventually('the screenshot is counted', async () => (await usageOf(key)).body.data.count === 1)
})

t.test('spec 8.6: the quota is final, unless the account allows overage and its plan has a price for it', async (t) => {
  const bound = await createClusterAccount(t, 'bound', { plan: 'basic' })
  const free = await createClusterAccount(t, 'beyond', { plan: 'basic', overage: { enabled: true } })
  await Promise.all([bound, free].map((account) => chargeAccount(account, 2000)))
  const refused = await createAndForget(t, { url, options: held }, bound.key)
  t.strictSame([refused.status, refused.body.error.code], [429, 'USAGE_LIMIT_REACHED'])
  t.equal((await createAndForget(t, { url, options: held }, free.key)).status, 202)
  const { body } = await eventually('the overage is counted', async () => {
    const answer = await usageOf(free.key)
    return answer.body.data.count === 2001 && answer
  })
  t.match(body.data, { limit: 2000, remaining: 0, percentage: 100.05, overage: { count: 1, unit_price_per_1000: 2, amount: 0 } })
})

t.test('spec 8.2: limits are enforced per account, all its keys share them', async (t) => {
  const { name, key } = await createClusterAccount(t, 'keys', { plan: 'free' })
  const second = await createClusterKey(`${name}-second`, name)
  const answers = await Promise.all([key, second, key, second].map((each) => createAndForget(t, { url, options: held }, each)))
  t.strictSame(answers.map(({ status }) => status).sort(), [202, 202, 429, 429])
})

t.test('spec 8.3: usage is tracked in real time', async (t) => {
  const { key } = await createClusterAccount(t, 'real-time', { plan: 'basic' })
  for (const count of [1, 2, 3]) {
    const { headers } = await createAndForget(t, { url, options: held }, key)
    t.equal(headers.get('x-quota-remaining'), String(2000 - count))
    await eventually('the usage endpoint reports the same count', async () => (await usageOf(key)).body.data.count === count)
  }
})

t.test('spec 8.4: a failed capture is not charged', async (t) => {
  const { key } = await createClusterAccount(t, 'refunded', { plan: 'basic' })
  const { body } = await createAndForget(t, { url: page('/hang-up') }, key)
  await eventually('the capture has failed', async () => {
    return (await restOf(key)('GET', `/screenshots/${body.id}?wait=25`)).body.status === 'failed'
  })
  await eventually('the unit is refunded', async () => (await usageOf(key)).body.data.count === 0)
})

t.test('spec 8.5: a request over the rate limit is 429 RATE_LIMIT_EXCEEDED with the time to wait', async (t) => {
  const { key } = await createClusterAccount(t, 'rate', { plan: 'free' })
  for (let n = 0; n < 2; n++) t.equal((await createAndForget(t, { url, options: held }, key)).status, 202)
  const { status, body, headers } = await createAndForget(t, { url, options: held }, key)
  t.equal(status, 429)
  t.equal(body.error.code, 'RATE_LIMIT_EXCEEDED')
  const seconds = Number(headers.get('retry-after'))
  t.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 61, `${seconds} seconds`)
  t.match(body.error.details, { limit: 2, window_seconds: 60, retry_after: seconds })
  t.equal(headers.get('x-ratelimit-remaining'), '0')
  t.match(headers.get('ratelimit'), /^"per-minute";r=0;t=\d+$/)
  t.equal((await restOf(key)('GET', '/screenshots')).status, 200, 'reads do not count toward this limit')
})

t.test('spec 8.8: the limit of a list is at most 500, and greater values count as 500', async (t) => {
  for (const path of ['/screenshots', '/webhooks', '/keys'])
    t.equal((await rest('GET', `${path}?limit=501`)).body.pagination.limit, 500, path)
})
