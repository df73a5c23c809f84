import t from 'tap'
import { Store } from '../../../../crds/client/lister.ts'
import type { Account } from '../../../../crds/src/kinds/account.ts'
import { DEFAULT_PLANS } from '../../../../crds/src/plans.ts'
import { sharesOf } from '../../../../operator/src/dispatcher/account-limits.ts'
import { anAccount } from '../../../support/builders.ts'

const accounts = new Store<Account>()
accounts.set(anAccount({ name: 'small', spec: { plan: 'free' } }))
accounts.set(anAccount({ name: 'large', spec: { plan: 'scale' } }))

t.test('sharesOf gives an account what its plan says, and one that does not exist the least', async (t) => {
  const shareOf = sharesOf(accounts, DEFAULT_PLANS, 'default')
  t.match(shareOf('small'), { weight: 1, maxRunning: 5 })
  t.match(shareOf('large'), { weight: 8, maxRunning: undefined })
  t.strictSame(shareOf('nobody'), { weight: 1 })
  t.equal(sharesOf(accounts, DEFAULT_PLANS, 'elsewhere')('large').weight, 1)
})

t.test('sharesOf lowers a ceiling, and never raises one', async (t) => {
  const shareOf = (ceiling: number) => sharesOf(accounts, DEFAULT_PLANS, 'default', () => ceiling)
  t.strictSame([shareOf(2)('small').maxRunning, shareOf(9)('small').maxRunning, shareOf(9)('large').maxRunning], [2, 5, 9])
})
