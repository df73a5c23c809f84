import t from 'tap'
import { rateLimitExceeded, usageLimitReached } from '../../../../api-gateway/src/quota/refusals.ts'

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
