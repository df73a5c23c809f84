import t from 'tap'
import { toUsageReport } from '../../../../../api-gateway/src/resources/usage/record.ts'
import { DEFAULT_PLANS } from '../../../../../crds/src/usage/plans.ts'
import { aGateway, NOW } from '../../fakes.ts'

t.test('GET /usage/days lists each day, and a new screenshot counts for today', async (t) => {
  const { call, quota } = aGateway()
  const read = async () => (await call('GET', '/usage/days')).body
  t.strictSame(await read(), { success: true, data: [] })
  const today = NOW.toISOString().slice(0, 10)
  const yesterday = new Date(NOW.getTime() - 86_400_000).toISOString().slice(0, 10)
  quota.set('acme', { limit: 100 }, { period: today.slice(0, 7), used: 7, days: { [yesterday]: 7 } })
  await call('POST', '/screenshots', { url: 'https://example.com/' })
  t.strictSame(await read(), {
    success: true,
    data: [
      { date: yesterday, count: 7 },
      { date: today, count: 1 },
    ],
  })
})

t.test('usage and status refuse parameters that they do not have', async (t) => {
  const { call } = aGateway()
  for (const path of ['/usage/current', '/usage/days', '/status'])
    t.match(await call('GET', `${path}?month=2026-10`), { status: 400, body: { error: { message: 'month is not known here' } } }, path)
})

const facts = (used: number, quota = 2_000) => ({
  at: new Date('2026-11-20T00:00:00Z'),
  plan: 'basic' as const,
  period: '2026-11',
  quota,
  limit: quota,
  used,
  resetAt: new Date('2026-12-01T00:00:00Z'),
  ratePerMinute: 40,
  rateRemaining: 40,
  rateResetSeconds: 0,
})

t.test('usage report has the fields of the spec and when the month ends', async (t) => {
  t.strictSame(toUsageReport(facts(500), { plan: 'basic' }, DEFAULT_PLANS.basic), {
    success: true,
    data: {
      period: '2026-11',
      count: 500,
      limit: 2_000,
      percentage: 25,
      remaining: 1_500,
      reset_at: '2026-12-01T00:00:00.000Z',
      plan: 'basic',
      rate_limit_per_minute: 40,
    },
  })
})

t.test('usage report tells what is beyond the quota and what it costs where it may be passed', async (t) => {
  const { data } = toUsageReport(facts(3_500), { plan: 'basic', overage: { enabled: true } }, DEFAULT_PLANS.basic)
  t.match(data, { percentage: 175, remaining: 0, overage: { count: 1_500, unit_price_per_1000: 2, amount: 3 } })
})

t.test('usage report rounds to hundredths and bears a quota of nothing', async (t) => {
  t.equal(toUsageReport(facts(1, 3), { plan: 'basic' }, DEFAULT_PLANS.basic).data.percentage, 33.33)
  t.equal(toUsageReport(facts(0, 0), { plan: 'basic' }, DEFAULT_PLANS.basic).data.percentage, 100)
})
