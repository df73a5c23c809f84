import t from 'tap'
import { DEFAULT_PLANS } from '../../../../../crds/src/usage/plans.ts'
import { decide } from '../../../../../operator/src/controllers/account/decide.ts'
import { anAccount, at } from '../../../../support/fakes/builders.ts'

t.test('decide reports whether the requests of an account are accepted', async (t) => {
  t.match(decide(anAccount(), DEFAULT_PLANS, at(0)), [{ type: 'Ready', status: 'True', reason: 'Active' }])
  t.match(decide(anAccount({ spec: { suspended: true } }), DEFAULT_PLANS, at(0)), [{ type: 'Ready', status: 'False', reason: 'Suspended' }])
})

t.test('an account says that its overage has no effect on a plan without a price', async (t) => {
  const messageOf = (plan: string) =>
    decide(anAccount({ spec: { plan, overage: { enabled: true, max: 500 } } }), DEFAULT_PLANS, at(0))?.at(-1)?.message
  t.match(messageOf('free'), /spec\.overage has no effect, because the plan has no overagePricePer1000/)
  t.notMatch(messageOf('basic'), /no effect/)
})

t.test('decide writes nothing when the condition is up to date', async (t) => {
  const account = anAccount()
  const conditions = decide(account, DEFAULT_PLANS, at(0))!
  t.equal(decide({ ...account, status: { conditions } }, DEFAULT_PLANS, at(60)), undefined)
  const suspended = { ...account, spec: { ...account.spec, suspended: true }, status: { conditions } }
  t.match(decide(suspended, DEFAULT_PLANS, at(60)), [{ lastTransitionTime: at(60).toISOString() }])
})

t.test('decide observes generation 0 of an account without a generation', async (t) => {
  const { generation: _, ...metadata } = anAccount().metadata
  t.match(decide({ ...anAccount(), metadata }, DEFAULT_PLANS, at(0)), [{ observedGeneration: 0 }])
})

t.test('decide reports a plan that is not defined, and names the plans', async (t) => {
  const [condition] = decide(anAccount({ spec: { plan: 'team-gold' } }), DEFAULT_PLANS, at(0)) ?? []
  t.match(condition, { type: 'Ready', status: 'False', reason: 'PlanNotFound' })
  t.match(condition?.message, /^Plan team-gold is not defined\..*free, basic, growth, scale/)
  const plans = { 'team-gold': DEFAULT_PLANS.basic }
  t.match(decide(anAccount({ spec: { plan: 'team-gold' } }), plans, at(0)), [{ status: 'True', message: /plan team-gold/ }])
})

t.test('decide reports an account whose name no other object can have', async (t) => {
  for (const [name, words] of [
    ['a'.repeat(64), /at most 63 characters.*Create another one/],
    ['a.b', /must not contain dots.*Create another one/],
  ] as const) {
    t.match(decide(anAccount({ name }), DEFAULT_PLANS, at(0)), [{ type: 'Ready', status: 'False', reason: 'InvalidName', message: words }])
  }
  t.match(decide(anAccount({ name: 'a'.repeat(63) }), DEFAULT_PLANS, at(0)), [{ status: 'True' }])
})
