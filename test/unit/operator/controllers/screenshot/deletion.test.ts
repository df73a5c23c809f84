import t from 'tap'
import type { Pod } from '../../../../../crds/client/core-resources.ts'
import { Store } from '../../../../../crds/client/lister.ts'
import { screenshotIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import type { Screenshot, ScreenshotStatus } from '../../../../../crds/src/kinds/screenshot.ts'
import { dayOf, recordKey, rewriteKey, tombstoneKey } from '../../../../../crds/src/records/storage-keys.ts'
import { Deletions } from '../../../../../operator/src/controllers/screenshot/deletion.ts'
import { uploadExpiryOf } from '../../../../../operator/src/controllers/screenshot/status.ts'
import { Expectations } from '../../../../../operator/src/runner/expectations.ts'
import { CLAIM_INDEX, claimedBy, Runners, UID_INDEX } from '../../../../../operator/src/runner/runners.ts'
import { aScreenshot, completedStatus, NOON } from '../../../../support/fakes/builders.ts'
import { aPod } from '../../../../support/fakes/runners.ts'
import { markChecks, signed } from '../../../../support/sources/mark-checks.ts'

const running: ScreenshotStatus = {
  phase: 'Running',
  runner: { pod: 'default-1', uid: 'uid-of-default-1' },
  attempt: 1,
  startTime: NOON.toISOString(),
}

function setUp() {
  const pods = new Store<Pod>().addIndex(UID_INDEX, ({ metadata }) => metadata.uid)
  pods.set(aPod())
  const screenshots = new Store<Screenshot>().addIndex(CLAIM_INDEX, claimedBy)
  const did: string[] = []
  const clock = { now: NOON }
  const keys = new Map<string, string>()
  const context = {
    ...markChecks,
    runners: new Runners({ pods, screenshots, expectations: new Expectations() }),
    client: { cancel: async ({ ip }: { ip: string }) => void did.push(`cancel at ${ip}`) },
    storage: {
      removePrefix: async () => void did.push('remove files'),
      exists: async (key: string) => keys.has(key),
      readText: async (key: string) => keys.get(key),
      write: async (key: string, text: string) => void keys.set(key, text),
      remove: async (gone: readonly string[]) => {
        for (const key of gone) keys.delete(key)
      },
    },
    now: () => clock.now,
  }
  return { context, did, clock, keys }
}

t.test('Deletions cancels a capture and deletes its files, and again when the upload URL has expired', async (t) => {
  const { context, did, clock } = setUp()
  const deletions = new Deletions()
  const shot = aScreenshot({ status: running })
  const key = deletions.add(shot)
  const again = await deletions.reconcile(key, context)
  t.strictSame(did, ['cancel at 10.0.0.1', 'remove files'])
  clock.now = new Date(NOON.getTime() + (again.requeueAfterMilliseconds ?? 0))
  t.ok(clock.now > uploadExpiryOf(shot))
  t.strictSame(await deletions.reconcile(key, context), {})
  t.equal(did.filter((what) => what === 'remove files').length, 2)
  t.strictSame(await deletions.reconcile(key, context), {}, 'then the entry is removed')
  t.equal(did.filter((what) => what === 'remove files').length, 2)
})

t.test('Deletions deletes the files of a finished Screenshot once', async (t) => {
  const { context, did } = setUp()
  const deletions = new Deletions()
  const key = deletions.add(aScreenshot({ status: completedStatus() }))
  t.strictSame(await deletions.reconcile(key, context), {})
  t.strictSame(did, ['remove files'])
})

const account = 'default'
const id = screenshotIdOf(aScreenshot().metadata)

t.test('Deletions only writes a tombstone for a Screenshot that never started', async (t) => {
  const { context, did, keys } = setUp()
  const deletions = new Deletions()
  t.strictSame(await deletions.reconcile(deletions.add(aScreenshot()), context), {})
  t.strictSame(did, [])
  t.strictSame([...keys.keys()], [tombstoneKey(account, id)])
})

t.test('Deletions keeps the files of an archived Screenshot', async (t) => {
  const { context, did, keys } = setUp()
  keys.set(recordKey(account, id), '')
  const deletions = new Deletions()
  t.strictSame(await deletions.reconcile(deletions.add(aScreenshot({ status: completedStatus() })), context), {})
  t.strictSame(did, [])
  t.strictSame([...keys.keys()], [recordKey(account, id)])
})

t.test('Deletions deletes the record of a Screenshot that was deleted while it was being archived', async (t) => {
  const { context, did, keys } = setUp()
  for (const key of [recordKey(account, id), tombstoneKey(account, id)]) keys.set(key, signed(key))
  const deletions = new Deletions()
  await deletions.reconcile(deletions.add(aScreenshot({ status: completedStatus() })), context)
  t.strictSame(did, ['remove files'])
  t.strictSame([...keys.keys()], [tombstoneKey(account, id), rewriteKey(account, dayOf(id), id)])
})

t.test('Deletions keeps the record and the files of an archived Screenshot without a tombstone of this release', async (t) => {
  const { context, did, keys } = setUp()
  for (const forged of ['', 'forged', signed(tombstoneKey('other', id))]) {
    keys.set(recordKey(account, id), '').set(tombstoneKey(account, id), forged)
    const deletions = new Deletions()
    await deletions.reconcile(deletions.add(aScreenshot({ status: completedStatus() })), context)
    t.strictSame([did, keys.has(recordKey(account, id))], [[], true], forged)
  }
})

t.test('Deletions retries when the store is unavailable', async (t) => {
  const { context } = setUp()
  const deletions = new Deletions()
  const key = deletions.add(aScreenshot({ status: completedStatus() }))
  await t.rejects(
    deletions.reconcile(key, { ...context, storage: { ...context.storage, removePrefix: () => Promise.reject(new Error('away')) } }),
  )
  t.strictSame(await deletions.reconcile(key, context), {})
})
