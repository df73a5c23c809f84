import t, { type Test } from 'tap'
import { accounts, screenshots } from '../../../../../crds/client/kinds.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import { deletedAccountKey } from '../../../../../crds/src/records/storage-keys.ts'
import { createAccountControllers } from '../../../../../operator/src/controllers/account/controller.ts'
import { readDeletionText } from '../../../../../operator/src/controllers/retention/deleted-accounts.ts'
import { anAccount, aScreenshot, at, NOON } from '../../../../support/fakes/builders.ts'
import { startOperator } from '../../../../support/fakes/operator-stage.ts'
import { ring } from '../../../../support/sources/mark-checks.ts'

const MARK = deletedAccountKey('acme')
const paid = { reservation: 'res_1' }
const kept = { deletionTimestamp: NOON.toISOString(), finalizers: ['example.com/keep'] }

/** The account controllers of a leader, half a minute after noon, with the account `acme` unless the test says otherwise. */
async function start(t: Test, account: ReturnType<typeof anAccount> | undefined = anAccount({ name: 'acme' })) {
  const stage = await startOperator(t)
  if (account.metadata.name === 'acme') stage.cluster.put(accounts, account)
  await stage.passTo(30)
  stage.lead(createAccountControllers(stage.deps).start)
  const add = async (name: string, { spec, ...given }: Parameters<typeof aScreenshot>[0] = {}) => {
    stage.cluster.put<Screenshot>(screenshots, aScreenshot({ name, spec: { accountName: 'acme', ...spec }, ...given }))
    await stage.settle()
  }
  const remove = async () => {
    stage.cluster.remove(accounts, 'acme')
    await stage.settle()
  }
  const failed = () =>
    stage.cluster.list<Screenshot>(screenshots).flatMap(({ metadata, status }) => (status?.phase === 'Failed' ? metadata.name : []))
  return { ...stage, add, remove, failed }
}
const nobody = anAccount({ name: 'nobody' })

t.test('only the queued Screenshots of a deleted Account fail, with a reason, and the time of the deletion is recorded', async (t) => {
  const { add, remove, failed, cluster, bucket } = await start(t)
  await add('waits', { spec: paid })
  await add('again', { status: { phase: 'Pending', attempt: 1 } })
  await add('runs', { spec: paid, status: { phase: 'Running', runner: { pod: 'p', uid: 'u' } } })
  await add('unpaid')
  await add('foreign', { spec: { accountName: 'other' } })
  await remove()
  t.strictSame(failed().sort(), ['again', 'unpaid', 'waits'])
  t.match(cluster.get<Screenshot>(screenshots, 'waits')?.status?.result?.error, { code: 'CANCELLED', message: /acme was deleted/ })
  t.strictSame(readDeletionText('acme', bucket.objects.get(MARK) ?? '', ring, at(30)), at(30))
})

t.test('nothing fails while the API server has an Account that the cache does not have yet', async (t) => {
  const { add, failed, cluster, reflectors, bucket } = await start(t, nobody)
  await reflectors.accounts.stop()
  cluster.put(accounts, anAccount({ name: 'acme' }))
  await add('waits', { spec: paid })
  t.strictSame([failed(), bucket.keys(), reflectors.accounts.lister.has('default/acme')], [[], [], true])
})

t.test('a deletion that this leader did not see is recorded only once', async (t) => {
  const { add, failed, bucket } = await start(t, nobody)
  bucket.objects.set(MARK, 'earlier')
  await add('waits', { spec: paid })
  t.strictSame([failed(), bucket.objects.get(MARK)], [['waits'], 'earlier'])
})

t.test('a Screenshot that was claimed meanwhile goes on, and the deletion is recorded afterwards', async (t) => {
  const { add, remove, failed, cluster, bucket, passTo } = await start(t)
  await add('waits', { spec: paid })
  const claim = cluster.get<Screenshot>(screenshots, 'waits')!
  cluster.fault = ({ verb }) => {
    if (verb === 'patch') cluster.put<Screenshot>(screenshots, { ...claim, status: { phase: 'Running', runner: { pod: 'p', uid: 'u' } } })
    return undefined
  }
  await remove()
  t.strictSame(bucket.keys(), [])
  await passTo(31)
  t.strictSame([failed(), bucket.keys()], [[], [MARK]])
})

t.test('the queued captures of an Account that a finalizer keeps fail, and its deletion is recorded when it is gone', async (t) => {
  const { add, remove, failed, bucket } = await start(t, anAccount({ name: 'acme', metadata: kept }))
  await add('waits', { spec: paid })
  t.strictSame([failed(), bucket.keys()], [['waits'], []], 'the grace period of its data begins when it is gone')
  await remove()
  t.strictSame(bucket.keys(), [MARK])
})

t.test('the captures that a deleted Account left fail, and those of the Account that is created again wait', async (t) => {
  for (const isDeleted of [true, false]) {
    const stage = await start(t, isDeleted ? undefined : nobody)
    if (isDeleted) stage.cluster.remove(accounts, 'acme')
    stage.cluster.put(accounts, anAccount({ name: 'acme', metadata: { creationTimestamp: NOON.toISOString() } }))
    for (const [name, second] of [
      ['old', -1],
      ['waits', 0],
    ] as const)
      stage.cluster.put<Screenshot>(
        screenshots,
        aScreenshot({ name, metadata: { creationTimestamp: at(second).toISOString() }, spec: { accountName: 'acme' } }),
      )
    await stage.settle()
    t.strictSame(stage.failed(), isDeleted ? ['old'] : [], 'without a deletion, older Screenshots may be applied before their Account')
    await stage.add('older', { metadata: { creationTimestamp: at(-1).toISOString() } })
    t.notOk(stage.failed().includes('older'))
  }
})

for (const [what, isMarked] of [
  ['fail while the bucket marks their Account as deleted', true],
  ['wait if their Account never existed', false],
] as const) {
  t.test(`uncharged Screenshots ${what}`, async (t) => {
    const { add, failed, bucket } = await start(t, nobody)
    if (isMarked) bucket.objects.set(MARK, 'earlier')
    await add('early')
    t.strictSame([failed().length, bucket.keys().length], isMarked ? [1, 1] : [0, 0])
  })
}
