import t from 'tap'
import { Store } from '../../../../crds/client/lister.ts'
import type { Account } from '../../../../crds/src/kinds/account.ts'
import { DEFAULT_PLANS } from '../../../../crds/src/usage/plans.ts'
import { accountLimits } from '../../../../operator/src/scheduling/account-limits.ts'
import { anAccount } from '../../../support/fakes/builders.ts'

const accounts = new Store<Account>()
accounts.set(anAccount({ name: 'small', spec: { plan: 'free' } }))
accounts.set(anAccount({ name: 'large', spec: { plan: 'scale' } }))

t.test('accountLimits returns the limits of the plan, and the smallest weight for a missing account', async (t) => {
  const limitsOf = accountLimits(accounts, DEFAULT_PLANS, 'default')
  t.match(limitsOf('small'), { weight: 1, maxRunning: 5 })
  t.match(limitsOf('large'), { weight: 8, maxRunning: undefined })
  t.strictSame(limitsOf('nobody'), { weight: 1 })
  t.equal(accountLimits(accounts, DEFAULT_PLANS, 'elsewhere')('large').weight, 1)
})

t.test('accountLimits lowers the limit of a plan but never raises it', async (t) => {
  const limitsOf = (limit: number) => accountLimits(accounts, DEFAULT_PLANS, 'default', () => limit)
  t.strictSame([limitsOf(2)('small').maxRunning, limitsOf(9)('small').maxRunning, limitsOf(9)('large').maxRunning], [2, 5, 9])
})

t.test('accountLimits allows one capture at a time, with the smallest weight, when the plan is not defined', async (t) => {
  const { free, basic } = DEFAULT_PLANS
  t.match(accountLimits(accounts, { free, basic }, 'default')('large'), { weight: 1, maxRunning: 1 })
})
