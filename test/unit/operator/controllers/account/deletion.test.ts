import t from 'tap'
import { KubeError } from '../../../../../crds/client/kube-error.ts'
import { Store } from '../../../../../crds/client/lister.ts'
import { silentLog } from '../../../../../crds/client/log.ts'
import type { Patch } from '../../../../../crds/client/patch.ts'
import type { Account } from '../../../../../crds/src/kinds/account.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import { deletedAccountKey } from '../../../../../crds/src/records/storage-keys.ts'
import { type AccountDeletionDeps, reconcileDeletion } from '../../../../../operator/src/controllers/account/deletion.ts'
import { PENDING_INDEX, pendingAccountOf } from '../../../../../operator/src/controllers/pending/context.ts'
import { readDeletionText } from '../../../../../operator/src/controllers/retention/marks.ts'
import { anAccount, aScreenshot, NOON } from '../../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../../support/fakes/memory-bucket.ts'
import { ring } from '../../../../support/sources/mark-checks.ts'

const paid = { accountName: 'acme', reservation: 'res_1' }
const KEY = 'default/acme'

function setUp({ isDeletionSeen = true, atServer }: { isDeletionSeen?: boolean; atServer?: Account } = {}) {
  const accounts = new Store<Account>()
  const screenshots = new Store<Screenshot>().addIndex(PENDING_INDEX, pendingAccountOf)
  const bucket = new MemoryBucket()
  const written: { name: string; status: Screenshot['status'] }[] = []
  const observed: Account[] = []
  const refusals: unknown[] = []
  const patch = async (name: string, { body }: Patch) => {
    const refusal = refusals.shift()
    if (refusal) throw refusal
    const { status } = body as { status: Screenshot['status'] }
    written.push({ name, status })
    return { ...screenshots.get(`default/${name}`), status } as Screenshot
  }
  const deps = {
    reflectors: {
      accounts: { lister: accounts, noteWritten: (account: Account) => void observed.push(account) },
      screenshots: { lister: screenshots },
    },
    clients: { accounts: { find: async () => atServer }, screenshots: { patch } },
    storage: bucket.storage,
    keys: { downloadKeys: ring },
    deleted: new Set(isDeletionSeen ? [KEY] : []),
    now: () => NOON,
    log: silentLog,
  } as unknown as AccountDeletionDeps
  return { accounts, screenshots, bucket, written, observed, refusals, deps }
}

t.test('reconcileDeletion fails only the queued Screenshots of a deleted Account, with a reason', async (t) => {
  const { screenshots, written, bucket, deps } = setUp()
  screenshots.set(aScreenshot({ name: 'waits', spec: paid }))
  screenshots.set(aScreenshot({ name: 'again', spec: { accountName: 'acme' }, status: { phase: 'Pending', attempt: 1 } }))
  screenshots.set(aScreenshot({ name: 'runs', spec: paid, status: { phase: 'Running', runner: { pod: 'p', uid: 'u' } } }))
  screenshots.set(aScreenshot({ name: 'unpaid', spec: { accountName: 'acme' } }))
  screenshots.set(aScreenshot({ name: 'foreign', spec: { ...paid, accountName: 'other' } }))
  await reconcileDeletion(KEY, deps)
  t.strictSame(written.map(({ name }) => name).sort(), ['again', 'unpaid', 'waits'])
  t.match(written[0]?.status, { phase: 'Failed', result: { error: { code: 'CANCELLED', message: /acme was deleted/ } } })
  t.strictSame(readDeletionText('acme', bucket.objects.get(deletedAccountKey('acme')) ?? '', ring, NOON), NOON)
  t.strictSame(deps.deleted, new Set())
})

t.test('reconcileDeletion does nothing when the API server still has the Account', async (t) => {
  const { screenshots, written, observed, bucket, deps } = setUp({ isDeletionSeen: false, atServer: anAccount({ name: 'acme' }) })
  screenshots.set(aScreenshot({ name: 'waits', spec: paid }))
  await reconcileDeletion(KEY, deps)
  t.strictSame([written.length, observed.length, bucket.keys()], [0, 1, []])
})

t.test('reconcileDeletion records an unobserved deletion only once', async (t) => {
  const { screenshots, bucket, deps } = setUp({ isDeletionSeen: false })
  screenshots.set(aScreenshot({ name: 'waits', spec: paid }))
  bucket.objects.set(deletedAccountKey('acme'), 'earlier')
  await reconcileDeletion(KEY, deps)
  t.equal(bucket.objects.get(deletedAccountKey('acme')), 'earlier')
})

t.test('reconcileDeletion retries when a Screenshot was claimed meanwhile', async (t) => {
  const { screenshots, refusals, bucket, deps } = setUp()
  screenshots.set(aScreenshot({ name: 'waits', spec: paid }))
  refusals.push(new KubeError({ status: 409, reason: 'Conflict', message: 'changed' }))
  await t.rejects(reconcileDeletion(KEY, deps), new KubeError({ status: 409, reason: 'Conflict', message: 'changed' }))
  t.strictSame(bucket.keys(), [])
})

t.test(
  'reconcileDeletion ends the queued captures of an Account that a finalizer keeps, and records its deletion when it is gone',
  async (t) => {
    const deleted = anAccount({ name: 'acme', metadata: { deletionTimestamp: NOON.toISOString() } })
    const { accounts, screenshots, written, bucket, deps } = setUp({ isDeletionSeen: false, atServer: deleted })
    accounts.set(deleted)
    screenshots.set(aScreenshot({ name: 'waits', spec: paid }))
    await reconcileDeletion(KEY, deps)
    t.match(written, [
      { name: 'waits', status: { phase: 'Failed', result: { error: { code: 'CANCELLED', message: /acme was deleted/ } } } },
    ])
    t.strictSame(bucket.keys(), [], 'the grace period of its data begins when it is gone')
    accounts.delete(KEY)
    screenshots.delete('default/waits')
    deps.deleted.add(KEY)
    deps.clients.accounts.find = async () => undefined
    await reconcileDeletion(KEY, deps)
    t.strictSame(bucket.keys(), [deletedAccountKey('acme')])
  },
)

t.test('reconcileDeletion ends what an Account left, and leaves the Screenshots of a recreated Account queued', async (t) => {
  const { accounts, screenshots, written, deps } = setUp()
  accounts.set(anAccount({ name: 'acme', metadata: { creationTimestamp: NOON.toISOString() } }))
  const add = (name: string, seconds: number) => {
    const creationTimestamp = new Date(NOON.getTime() + seconds * 1_000).toISOString()
    screenshots.set(aScreenshot({ name, metadata: { creationTimestamp }, spec: { accountName: 'acme' } }))
  }
  add('old', -1)
  add('waits', 0)
  await reconcileDeletion(KEY, deps)
  t.strictSame([written.map(({ name }) => name), deps.deleted.size], [['old'], 0])
  await reconcileDeletion(KEY, deps)
  t.equal(written.length, 1, 'without a deletion, older Screenshots may be applied before their Account')
})

for (const [what, isMarked] of [
  ['ends uncharged Screenshots while the bucket marks their Account as deleted', true],
  ['leaves uncharged Screenshots of an Account that never existed queued', false],
] as const) {
  t.test(`reconcileDeletion ${what}`, async (t) => {
    const { screenshots, written, bucket, deps } = setUp({ isDeletionSeen: false })
    screenshots.set(aScreenshot({ name: 'early', spec: { accountName: 'acme' } }))
    if (isMarked) bucket.objects.set(deletedAccountKey('acme'), 'earlier')
    await reconcileDeletion(KEY, deps)
    t.strictSame([written.length, bucket.keys().length], isMarked ? [1, 1] : [0, 0])
  })
}
