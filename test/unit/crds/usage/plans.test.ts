import t from 'tap'
import { DEFAULT_PLANS, findPlan, limitsOfPlan, mayExceed, PlansText, toLimits } from '../../../../crds/src/usage/plans.ts'

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
  const plans = PlansText.parse(JSON.stringify({ free: { monthlyQuota: 5, ratePerMinute: null }, basic: { monthlyQuota: 5 } }))
  for (const plan of ['free', 'basic']) t.strictSame(toLimits({ plan }, limitsOfPlan(plans, plan)), { limit: 5 })
})

const mistakes = [
  { text: '{', says: /JSON/ },
  { text: '[]', says: /the whole text/ },
  { text: JSON.stringify({ ...DEFAULT_PLANS, free: { monthlyQuota: -1 } }), says: /free\.monthlyQuota/ },
  { text: '{}', says: /at least one plan/ },
  { text: JSON.stringify({ 'Team Gold': { monthlyQuota: 1 } }), says: /Team Gold/ },
  { text: JSON.stringify({ [`a${'b'.repeat(63)}`]: { monthlyQuota: 1 } }), says: /abbb/ },
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

t.test('plans can have any DNS label as a name', async (t) => {
  const plans = PlansText.parse(
    JSON.stringify({ 'team-gold': { monthlyQuota: 7, ratePerMinute: 3 }, ['b'.repeat(63)]: { monthlyQuota: 1 } }),
  )
  t.match(findPlan(plans, 'team-gold'), { monthlyQuota: 7, weight: 1 })
  t.strictSame(toLimits({ plan: 'team-gold' }, limitsOfPlan(plans, 'team-gold')), { limit: 7, ratePerMinute: 3 })
})

t.test('limitsOfPlan allows no screenshots without a plan of this name, and deletes no files early', async (t) => {
  const { free, scale } = DEFAULT_PLANS
  const plans = { free, scale: { ...scale, retentionDays: 90 } }
  for (const plan of ['team-gold', 'constructor']) {
    t.equal(findPlan(plans, plan), undefined)
    const limits = limitsOfPlan(plans, plan)
    t.match(limits, { retentionDays: 90, weight: 1, maxRunning: 1 })
    t.strictSame(toLimits({ plan, overage: { enabled: true } }, limits), { limit: 0 })
  }
})
