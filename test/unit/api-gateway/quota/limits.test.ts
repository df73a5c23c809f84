import t from 'tap'
import { toHttpError } from '../../../../api-gateway/src/common/errors.ts'
import { CallLimits } from '../../../../api-gateway/src/quota/call-limits.ts'
import { rateLimitExceeded, usageLimitReached } from '../../../../api-gateway/src/quota/refusals.ts'
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

t.test('refusals tell what a client needs to know', async (t) => {
  t.match(toHttpError(rateLimitExceeded({ ratePerMinute: 2, rateResetSeconds: 7 })), {
    status: 429,
    code: 'RATE_LIMIT_EXCEEDED',
    details: { limit: 2, window_seconds: 60, retry_after: 7 },
    headers: { 'retry-after': '7' },
  })
  const full = toHttpError(usageLimitReached({ limit: 100, used: 100, resetAt: new Date('2026-12-01T00:00:00Z') }))
  t.match(full, {
    status: 429,
    code: 'USAGE_LIMIT_REACHED',
    details: { limit: 100, used: 100, reset_at: '2026-12-01T00:00:00.000Z' },
    headers: { 'x-should-retry': 'false' },
  })
  t.notOk('retry-after' in full.headers, 'it would be weeks')
})

t.test('every answer to a key carries its limits, refusals too, in both spellings', async (t) => {
  const { app, quota, headers } = aGateway()
  quota.set(
    'acme',
    { limit: 60_000, ratePerMinute: 40 },
    { period: '2026-11', used: 123, window: [{ second: NOW.getTime() / 1_000 - 10.456, count: 3 }] },
  )
  for (const url of ['/v1/usage/current', '/v1/screenshots/scr_none']) {
    const response = await app.inject({ url, headers })
    t.match(response.headers, {
      'ratelimit-policy': '"per-minute";q=40;w=60',
      ratelimit: '"per-minute";r=37;t=0',
      'x-ratelimit-limit': '40',
      'x-ratelimit-remaining': '37',
      'x-quota-limit': '50000',
      'x-quota-remaining': '49877',
      'x-quota-reset': String(Date.parse('2026-12-01T00:00:00Z') / 1_000),
    })
  }
  const open = await app.inject({ url: '/v1/status' })
  t.notOk('x-quota-limit' in open.headers, 'nobody in particular asked')
})

t.test('a refusal by rate names as many seconds in Retry-After as in RateLimit, though one passes meanwhile', async (t) => {
  let asked = 0
  const { app, quota, headers } = aGateway({ now: () => later(1_000 * asked++) })
  quota.set(
    'acme',
    { limit: 60_000, ratePerMinute: 1 },
    { period: '2026-11', used: 0, window: [{ second: NOW.getTime() / 1_000, count: 1 }] },
  )
  const refused = await app.inject({ method: 'POST', url: '/v1/screenshots', headers, payload: { url: 'https://example.com/' } })
  t.equal(refused.statusCode, 429)
  t.equal(refused.headers.ratelimit, `"per-minute";r=0;t=${refused.headers['retry-after']}`)
})

t.test('an account without a bound on its rate hears nothing of one', async (t) => {
  const { app, headers } = aGateway()
  const response = await app.inject({ url: '/v1/usage/current', headers })
  t.notOk('ratelimit' in response.headers)
  t.match(response.json(), { data: { rate_limit_per_minute: null, plan: 'scale', count: 0 } })
})

t.test('lists are counted, polls of one record are not', async (t) => {
  const { app, headers } = aGateway({ callsPerMinute: { read: 3, management: 1, link: 1 } })
  for (let n = 0; n < 3; n++) await app.inject({ url: '/v1/usage/current', headers })
  const refused = await app.inject({ url: '/v1/screenshots', headers })
  t.match(refused, { statusCode: 429, headers: { 'retry-after': '61' } })
  t.match(refused.json(), { error: { code: 'RATE_LIMIT_EXCEEDED', details: { limit: 3 } } })
  t.equal((await app.inject({ url: '/v1/screenshots/scr_none', headers })).statusCode, 404)
})

const resetAt = new Date('2026-12-01T00:00:00.000Z')

t.test('usageLimitReached says that the quota is used up, or what a video costs', async (t) => {
  const full = usageLimitReached({ limit: 16, used: 16, resetAt })
  t.equal(full.message, 'the usage limit was reached: 16 of 16 units of this month are used')
  t.strictSame(full.details, { limit: 16, used: 16, reset_at: resetAt.toISOString() })
  const tooDear = usageLimitReached({ limit: 16, used: 12, resetAt }, 5)
  t.equal(tooDear.message, 'the request costs 5 units, and 12 of 16 units of this month are used')
  t.strictSame(tooDear.details, { limit: 16, used: 12, cost: 5, reset_at: resetAt.toISOString() })
})

t.test('rateLimitExceeded says one second and one request in the singular', async (t) => {
  const messageOf = (ratePerMinute: number, rateResetSeconds: number) => rateLimitExceeded({ ratePerMinute, rateResetSeconds }).message
  t.equal(messageOf(1, 1), 'Rate limit is 1 request per minute. Retry in 1 second.')
  t.equal(messageOf(40, 3), 'Rate limit is 40 requests per minute. Retry in 3 seconds.')
})
