import t from 'tap'
import { Store } from '../../../../crds/client/lister.ts'
import type { Account } from '../../../../crds/src/kinds/account.ts'
import { DEFAULT_PLANS } from '../../../../crds/src/usage/plans.ts'
import { accountLimits, canRecordIn } from '../../../../operator/src/scheduling/account-limits.ts'
import { anAccount, aRunnerPool, aScreenshot } from '../../../support/fakes/builders.ts'

const accounts = new Store<Account>()
accounts.set(anAccount({ name: 'small', spec: { plan: 'free' } }))
accounts.set(anAccount({ name: 'large', spec: { plan: 'scale' } }))

t.test('accountLimits returns the limits of the plan, and the smallest weight for a missing account', async (t) => {
  const limitsOf = accountLimits(accounts, DEFAULT_PLANS, 'default')
  t.match(limitsOf('small'), { weight: 1, maxRunning: 5 })
  t.match(limitsOf('large'), { weight: 8, maxRunning: undefined })
  t.strictSame(limitsOf('nobody'), { weight: 1, hasOthers: true, maxRunning: undefined })
  t.equal(accountLimits(accounts, DEFAULT_PLANS, 'elsewhere')('large').weight, 1)
})

t.test('accountLimits lowers the limit of a plan but never raises it', async (t) => {
  const limitsOf = (limit: number) => accountLimits(accounts, DEFAULT_PLANS, 'default', () => limit)
  t.strictSame([limitsOf(2)('small').maxRunning, limitsOf(9)('small').maxRunning, limitsOf(9)('large').maxRunning], [2, 5, 9])
})

t.test('accountLimits does not apply maxRunning to the only account of a release', async (t) => {
  const only = new Store<Account>()
  only.set(anAccount({ name: 'small', spec: { plan: 'free' } }))
  t.strictSame(accountLimits(only, DEFAULT_PLANS, 'default')('small'), { weight: 1, hasOthers: false, maxRunning: undefined })
  t.equal(accountLimits(only, DEFAULT_PLANS, 'default', () => 2)('small').maxRunning, 2)
})

t.test('accountLimits allows one capture at a time, with the smallest weight, when the plan is not defined', async (t) => {
  const { free, basic } = DEFAULT_PLANS
  t.match(accountLimits(accounts, { free, basic }, 'default')('large'), { weight: 1, maxRunning: 1 })
})

t.test('canRecordIn is false only for a video in a pool that records none', async (t) => {
  const pools = [aRunnerPool(), aRunnerPool({ spec: { video: false } }), aRunnerPool({ spec: { video: true } })]
  const inEach = (format: 'mp4' | 'webm' | 'gif' | 'png' | undefined) =>
    pools.map((pool) => canRecordIn(aScreenshot({ spec: format === undefined ? {} : { options: { format } } }), pool))
  for (const format of ['mp4', 'webm', 'gif'] as const) t.strictSame(inEach(format), [false, false, true], format)
  for (const format of ['png', undefined] as const) t.strictSame(inEach(format), [true, true, true], String(format))
})
