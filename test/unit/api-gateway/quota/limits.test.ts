import t from 'tap'
import { toHttpError } from '../../../../api-gateway/src/common/errors.ts'
import { CallLimits, rateLimitExceeded, usageLimitReached } from '../../../../api-gateway/src/quota/limits.ts'
import { aGateway, NOW } from '../fakes.ts'

const later = (milliseconds: number) => new Date(NOW.getTime() + milliseconds)

t.test('call limits count each account and kind by itself, and tell when there is room', async (t) => {
  const calls = new CallLimits({ read: 20, management: 5, link: 1 })
  for (let n = 0; n < 5; n++) t.equal(calls.take('management', 'acme', NOW), undefined)
  const seconds = calls.take('management', 'acme', NOW)
  t.equal(seconds, 61)
  t.equal(calls.take('read', 'acme', NOW), undefined)
  t.equal(calls.take('management', 'other', NOW), undefined)
  t.equal(calls.take('management', 'acme', later(61_000)), undefined)
})

t.test('call limits still refuse an account after they have forgotten ten thousand idle ones', async (t) => {
  const calls = new CallLimits({ read: 1, management: 1, link: 1 })
  for (let n = 0; n <= 10_000; n++) calls.take('read', `idle-${n}`, NOW)
  t.equal(calls.take('read', 'acme', later(61_000)), undefined)
  calls.take('read', 'other', later(61_000))
  t.equal(calls.take('read', 'acme', later(61_000)), 61)
})

t.test('refusals tell what a client needs to know, in the singular and in the plural', async (t) => {
  const rate = (ratePerMinute: number, rateResetSeconds: number) => toHttpError(rateLimitExceeded({ ratePerMinute, rateResetSeconds }))
  t.match(rate(40, 3), {
    status: 429,
    code: 'RATE_LIMIT_EXCEEDED',
    message: 'Rate limit is 40 requests per minute. Retry in 3 seconds.',
    details: { limit: 40, window_seconds: 60, retry_after: 3 },
    headers: { 'retry-after': '3' },
  })
  t.equal(rate(1, 1).message, 'Rate limit is 1 request per minute. Retry in 1 second.')
  t.match(rate(1, 0), { details: { retry_after: 1 }, headers: { 'retry-after': '1' } })
  const resetAt = new Date('2026-12-01T00:00:00.000Z')
  const full = toHttpError(usageLimitReached({ limit: 16, used: 16, resetAt }))
  t.match(full, { status: 429, code: 'USAGE_LIMIT_REACHED', headers: { 'x-should-retry': 'false' } })
  t.equal(full.message, 'the usage limit was reached: 16 of 16 units of this month are used')
  t.strictSame(full.details, { limit: 16, used: 16, reset_at: resetAt.toISOString() })
  t.notOk('retry-after' in full.headers, 'it would be weeks')
  const tooDear = usageLimitReached({ limit: 16, used: 12, resetAt }, 5)
  t.equal(tooDear.message, 'the request costs 5 units, and 12 of 16 units of this month are used')
  t.strictSame(tooDear.details, { limit: 16, used: 12, cost: 5, reset_at: resetAt.toISOString() })
})

t.test('every answer to a key carries its limits, refusals too, in both spellings', async (t) => {
  const { call, quota } = aGateway()
  const window = [{ second: NOW.getTime() / 1_000 - 10.456, count: 3 }]
  quota.set('acme', { limit: 60_000, ratePerMinute: 40 }, { period: '2026-11', used: 123, window })
  for (const path of ['/usage/current', '/screenshots/scr_none'])
    t.match((await call('GET', path)).headers, {
      'ratelimit-policy': '"per-minute";q=40;w=60',
      ratelimit: '"per-minute";r=37;t=0',
      'x-ratelimit-limit': '40',
      'x-ratelimit-remaining': '37',
      'x-quota-limit': '50000',
      'x-quota-remaining': '49877',
      'x-quota-reset': String(Date.parse('2026-12-01T00:00:00Z') / 1_000),
    })
  t.notOk('x-quota-limit' in (await aGateway().app.inject({ url: '/v1/status' })).headers, 'nobody in particular asked')
})

t.test('a refusal by rate names as many seconds in Retry-After as in RateLimit, though one passes meanwhile', async (t) => {
  let asked = 0
  const { call, quota } = aGateway({ now: () => later(1_000 * asked++) })
  const window = [{ second: NOW.getTime() / 1_000 - 0.456, count: 1 }]
  quota.set('acme', { limit: 60_000, ratePerMinute: 1 }, { period: '2026-11', used: 0, window })
  const { status, headers } = await call('POST', '/screenshots', { url: 'https://example.com/' })
  t.equal(status, 429)
  t.equal(headers.ratelimit, `"per-minute";r=0;t=${headers['retry-after']}`)
})

t.test('an account without a bound on its rate hears nothing of one', async (t) => {
  const { headers, body } = await aGateway().call('GET', '/usage/current')
  t.notOk('ratelimit' in headers)
  t.match(body, { data: { rate_limit_per_minute: null, plan: 'scale', count: 0 } })
})

t.test('lists are counted, polls of one record are not', async (t) => {
  const { call } = aGateway({ callsPerMinute: { read: 3, management: 1, link: 1 } })
  for (let n = 0; n < 3; n++) await call('GET', '/usage/current')
  const refused = await call('GET', '/screenshots')
  t.match(refused, { status: 429, headers: { 'retry-after': '61' } })
  t.match(refused.body, { error: { code: 'RATE_LIMIT_EXCEEDED', details: { limit: 3 } } })
  t.equal((await call('GET', '/screenshots/scr_none')).status, 404)
})
