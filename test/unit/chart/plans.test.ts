import t from 'tap'
import { DEFAULT_PLANS, PlansText } from '../../../crds/src/usage/plans.ts'
import { type Container, find, type PodSpec, renderChart } from '../../support/sources/chart.ts'

// The limits of each plan with the default values of the chart (spec 8).

const objects = await renderChart()
const plansOf = (program: string, rendered = objects) => {
  const { spec } = find<{ spec: { template: { spec: PodSpec } } }>(rendered, 'Deployment', `tintype-${program}`)
  const [container] = spec.template.spec.containers as (Container & { env?: { name: string; value?: string }[] })[]
  return PlansText.parse(container?.env?.find(({ name }) => name === 'TINTYPE_PLANS')?.value)
}

t.test('spec 8: plan Scale has 50,000 per month and 150 requests per minute, beyond $0.75 per 1,000', async (t) => {
  t.match(plansOf('api-gateway').scale, { monthlyQuota: 50_000, ratePerMinute: 150, overagePricePer1000: 0.75 })
})

t.test('the chart passes the built-in plans to gateway and operator', async (t) => {
  // An absent price and an undefined one mean the same.
  const known = JSON.stringify(DEFAULT_PLANS)
  for (const program of ['api-gateway', 'operator']) t.same(JSON.parse(JSON.stringify(plansOf(program))), JSON.parse(known))
})

t.test('the chart accepts any plan name, adds it to the default plans, and removes a default plan that is null', async (t) => {
  const rendered = await renderChart({ 'plans.team-gold': { monthlyQuota: 7 }, 'plans.free': null, 'bootstrap.plan': 'team-gold' })
  for (const program of ['api-gateway', 'operator']) {
    const plans = plansOf(program, rendered)
    t.strictSame(Object.keys(plans).sort(), ['basic', 'growth', 'scale', 'team-gold'])
    t.equal(plans['team-gold']?.monthlyQuota, 7)
  }
})
