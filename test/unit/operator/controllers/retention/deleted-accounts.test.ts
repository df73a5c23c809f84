import t from 'tap'
import type { IgnoredObject } from '../../../../../crds/src/records/ignored-objects.ts'
import { deletedAccountKey } from '../../../../../crds/src/records/storage-keys.ts'
import { DeletedAccounts } from '../../../../../operator/src/controllers/retention/deleted-accounts.ts'
import { at } from '../../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../../support/fakes/memory-bucket.ts'
import { ring } from '../../../../support/sources/mark-checks.ts'

t.test('DeletedAccounts reports and rewrites marks that another key signed', async (t) => {
  const otherRing = { current: 'old', keys: { old: Buffer.alloc(32, 7).toString('base64') } }
  const options = { kinds: [], graceMilliseconds: 1_000, now: () => at(100) }
  const earlier = async (report: () => void) => {
    const bucket = new MemoryBucket()
    await new DeletedAccounts({ ...options, storage: bucket.storage, ring: otherRing, report }).isPastGrace('acme')
    return bucket.objects.get(deletedAccountKey('acme')) ?? ''
  }
  const signedByOther = await earlier(() => {})
  for (const { text, reason } of [
    { text: at(0).toISOString(), reason: 'unconfirmed' },
    { text: signedByOther, reason: 'unconfirmed' },
    { text: 'junk', reason: 'content' },
  ]) {
    const bucket = new MemoryBucket()
    const ignored: IgnoredObject[] = []
    const gone = new DeletedAccounts({ ...options, storage: bucket.storage, ring, report: (object) => ignored.push(object) })
    await bucket.storage.write(deletedAccountKey('acme'), text)
    t.equal(await gone.isPastGrace('acme'), false, 'its grace period starts again')
    t.match(ignored, [{ kind: 'gone', reason, key: deletedAccountKey('acme') }], text)
    t.equal(await gone.isPastGrace('acme'), false)
    t.equal(ignored.length, 1, 'it has a valid signature now')
  }
})
