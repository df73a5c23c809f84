import t from 'tap'
import { Store } from '../../../../../crds/client/lister.ts'
import type { Account } from '../../../../../crds/src/kinds/account.ts'
import type { RunnerPool } from '../../../../../crds/src/kinds/runner-pool.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import type { ScreenshotContext } from '../../../../../operator/src/controllers/screenshot/context.ts'
import { observe } from '../../../../../operator/src/controllers/screenshot/observe.ts'
import { anAccount, aRunnerPool, aScreenshot, NOON } from '../../../../support/fakes/builders.ts'

/** Whether a queued Screenshot can run, by its account and whether a gateway has charged it. */
async function canRun(account: Account | undefined, reservation?: string): Promise<boolean> {
  const [screenshots, pools, accounts] = [new Store<Screenshot>(), new Store<RunnerPool>(), new Store<Account>()]
  screenshots.set(aScreenshot({ name: 'shot', spec: { accountName: 'acme', ...(reservation ? { reservation } : {}) } }))
  pools.set(aRunnerPool())
  if (account) accounts.set(account)
  const none = { find: async () => undefined }
  const context = {
    reflectors: { screenshots: { lister: screenshots }, pools: { lister: pools }, accounts: { lister: accounts } },
    config: { namespace: 'default' },
    ...{ poolOf: () => 'default', charge: () => {}, cache: none, restorer: none, runners: { reservedFor: () => undefined } },
  } as unknown as ScreenshotContext
  return (await observe('default/shot', context)).canRun
}

t.test('a queued capture ran for a deleted Account that a finalizer kept', async (t) => {
  const deleted = anAccount({ name: 'acme', metadata: { deletionTimestamp: NOON.toISOString() } })
  t.strictSame([await canRun(deleted), await canRun(deleted, 'res_1')], [false, false])
})

t.test('a queued capture runs for its Account, and without one only if a gateway has charged it', async (t) => {
  const account = anAccount({ name: 'acme' })
  t.strictSame([await canRun(account), await canRun(account, 'res_1')], [true, true])
  t.strictSame([await canRun(undefined), await canRun(undefined, 'res_1')], [false, true])
})
