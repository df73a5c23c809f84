import t from 'tap'
import { Store } from '../../../../crds/client/lister.ts'
import type { Account } from '../../../../crds/src/kinds/account.ts'
import { DEFAULT_PLANS } from '../../../../crds/src/usage/plans.ts'
import { poolsOf } from '../../../../operator/src/scheduling/account-limits.ts'
import { anAccount, aScreenshot } from '../../../support/fakes/builders.ts'

const accounts = new Store<Account>()
accounts.set(anAccount({ name: 'rich', spec: { plan: 'scale' } }))
accounts.set(anAccount({ name: 'poor', spec: { plan: 'free' } }))
const poolOf = poolsOf(accounts, { ...DEFAULT_PLANS, scale: { ...DEFAULT_PLANS.scale, poolName: 'large' } }, 'default')

const cases = [
  { name: 'uses the one that it names', spec: { accountName: 'rich', poolName: 'small' }, pool: 'small' },
  { name: 'else that of the plan of its account', spec: { accountName: 'rich' }, pool: 'large' },
  { name: 'the default one when the plan names none', spec: { accountName: 'poor' }, pool: 'default' },
  { name: 'that of videos for a video, whatever the plan', spec: { accountName: 'rich', options: { format: 'webm' } }, pool: 'video' },
  { name: 'the one that a video names', spec: { poolName: 'small', options: { format: 'gif' } }, pool: 'small' },
  { name: 'the default one when the account does not exist', spec: { accountName: 'nobody' }, pool: 'default' },
] as const
for (const { name, spec, pool } of cases)
  t.test(`poolsOf returns for a Screenshot ${name}`, async (t) => t.equal(poolOf(aScreenshot({ spec })), pool))
