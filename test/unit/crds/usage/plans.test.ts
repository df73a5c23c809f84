import t from 'tap'
import { DEFAULT_PLANS, mayExceed, PlansText, toLimits } from '../../../../crds/src/usage/plans.ts'

t.test('plans have the documented defaults', async (t) => {
  t.strictSame(PlansText.parse(undefined), DEFAULT_PLANS)
  t.match(PlansText.parse(''), {
    free: { monthlyQuota: 100, ratePerMinute: 2 },
    basic: { monthlyQuota: 2_000, ratePerMinute: 40, overagePricePer1000: 2 },
    growth: { monthlyQuota: 10_000, ratePerMinute: 80, overagePricePer1000: 1.5 },
    scale: { monthlyQuota: 50_000, ratePerMinute: 150, overagePricePer1000: 0.75 },
  })
})

t.test('plans treat null, and a key that Helm has removed, as unlimited', async (t) => {
  const plan = { monthlyQuota: 5, ratePerMinute: null }
  const { free, basic } = PlansText.parse(JSON.stringify({ free: plan, basic: { monthlyQuota: 5 }, growth: plan, scale: plan }))
  t.strictSame(toLimits({ plan: 'free' }, free), { limit: 5 })
  t.strictSame(toLimits({ plan: 'basic' }, basic), { limit: 5 })
})

const mistakes = [
  { text: '{', says: /JSON/ },
  { text: '[]', says: /the whole text/ },
  { text: JSON.stringify({ ...DEFAULT_PLANS, free: { monthlyQuota: -1 } }), says: /free\.monthlyQuota/ },
  { text: JSON.stringify({ ...DEFAULT_PLANS, gold: { monthlyQuota: 1 } }), says: /gold/ },
  { text: JSON.stringify({ ...DEFAULT_PLANS, scale: { monthlyQuota: 1, rate: 1 } }), says: /scale.*rate/s },
]
for (const { text, says } of mistakes) {
  t.test(`plans name the mistake in ${text.slice(0, 40)}`, async (t) => {
    const { error } = PlansText.safeParse(text)
    t.match(error?.issues[0]?.message, says)
  })
}

t.test('plans allow overage only if the account enables it and the plan has a price', async (t) => {
  const { free, basic } = DEFAULT_PLANS
  const enabled = { plan: 'basic', overage: { enabled: true, max: 50 } } as const
  t.strictSame(toLimits(enabled, basic), { limit: 2_050, ratePerMinute: 40 })
  t.strictSame(toLimits({ plan: 'basic', overage: { enabled: true } }, basic), { limit: 10_000_000_000, ratePerMinute: 40 }, 'no bound')
  t.strictSame(toLimits({ plan: 'basic', overage: { enabled: false, max: 50 } }, basic).limit, 2_000)
  t.strictSame(toLimits({ ...enabled, plan: 'free' }, free).limit, 100, 'an upgrade is required')
  t.notOk(mayExceed({ overage: { enabled: true } }, free))
})
