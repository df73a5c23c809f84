import t from 'tap'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import { ignoreSilently } from '../../../../../crds/src/records/ignored-objects.ts'
import { tombstoneKey } from '../../../../../crds/src/records/storage-keys.ts'
import { findTombstones } from '../../../../../crds/storage/archive/tombstones.ts'
import { at } from '../../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../../support/fakes/memory-bucket.ts'

const id = (second: number): string => newId('scr', at(second), Buffer.alloc(10, 7))

t.test('findTombstones finds the deleted ids among others, over days and thousands of marks', async (t) => {
  const bucket = new MemoryBucket()
  const lister = { storage: bucket.storage, report: ignoreSilently }
  for (let n = 0; n < 2_300; n++) bucket.objects.set(tombstoneKey('acme', id(n)), '')
  bucket.objects.set(tombstoneKey('acme', id(-100_000)), '')
  const wanted = [id(0), id(2_299), id(1_500), id(-100_000)]
  const found = await findTombstones('acme', [...wanted, id(2_300), id(-5), id(-200_000)], lister)
  t.strictSame([...found].sort(), wanted.sort())
  t.equal((await findTombstones('other', wanted, lister)).size, 0)
  t.equal((await findTombstones('acme', [], lister)).size, 0)
})
