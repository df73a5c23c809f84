import t from 'tap'
import { toUsageReport } from '../../../../../api-gateway/src/resources/usage/record.ts'
import { DEFAULT_PLANS } from '../../../../../crds/src/usage/plans.ts'

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
