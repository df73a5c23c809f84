import t from 'tap'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import { recordKey, segmentsPrefix, tombstoneKey } from '../../../../../crds/src/records/storage-keys.ts'
import type { ListKeys } from '../../../../../crds/storage/port.ts'
import { listPastIds } from '../../../../../operator/src/controllers/quota/past-records.ts'

const NOW = new Date('2026-11-21T10:20:30.456Z')
const idAt = (time: string) => newId('scr', new Date(time))

/** A bucket with these keys that counts its list requests. */
function aBucket(...names: string[]) {
  const keys = [...names].sort()
  const bucket = {
    lists: 0,
    list: async (prefix: string, { after = '', limit = 1_000 }: ListKeys = {}) => {
      bucket.lists++
      return keys.filter((key) => key.startsWith(prefix) && key > after).slice(0, limit)
    },
  }
  return bucket
}

t.test('listPastIds returns each archived or deleted id of the month once', async (t) => {
  const [first, last, both] = [idAt('2026-11-01T00:00:00.000Z'), idAt('2026-11-21T10:20:30.000Z'), idAt('2026-11-10T00:00:00Z')]
  const bucket = aBucket(
    recordKey('acme', first),
    tombstoneKey('acme', last),
    recordKey('acme', both),
    tombstoneKey('acme', both),
    recordKey('acme', idAt('2026-10-31T23:59:59.999Z')),
    recordKey('other', idAt('2026-11-10T00:00:00Z')),
    `${segmentsPrefix('acme', '79000')}odd.ndjson`,
  )
  t.strictSame([...(await listPastIds('acme', NOW, bucket))].sort(), [first, last, both].sort())
})

t.test('listPastIds needs one list for a new account', async (t) => {
  const bucket = aBucket()
  t.equal((await listPastIds('new', NOW, bucket)).size, 0)
  t.equal(bucket.lists, 1)
})

t.test('listPastIds reads page by page, and not beyond the month', async (t) => {
  const month = Array.from({ length: 1_500 }, (_, n) => recordKey('acme', idAt(new Date(NOW.getTime() - n * 600_000).toISOString())))
  const years = Array.from({ length: 5_000 }, (_, n) =>
    recordKey('acme', idAt(new Date(Date.UTC(2026, 9, 31) - n * 600_000).toISOString())),
  )
  const bucket = aBucket(...month, ...years)
  t.equal((await listPastIds('acme', NOW, bucket)).size, 1_500)
  t.equal(bucket.lists, 2)
})
