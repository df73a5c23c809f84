import t from 'tap'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import { recordKey, segmentsPrefix, tombstoneKey } from '../../../../../crds/src/records/storage-keys.ts'
import { listPastUnits } from '../../../../../operator/src/controllers/quota/past-records.ts'
import { aScreenshot, buildSegments } from '../../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../../support/fakes/memory-bucket.ts'
import { collectIgnored } from '../../../../support/sources/mark-checks.ts'

const NOW = new Date('2026-11-21T10:20:30.456Z')
const idAt = (time: string) => newId('scr', new Date(time))

const { ignored, report } = collectIgnored()
const listUnits = (account: string, bucket: MemoryBucket) => listPastUnits(account, NOW, { objects: bucket.storage, report })

/** A bucket with these keys that counts its list requests. */
function aBucket(...keys: string[]) {
  const bucket = Object.assign(new MemoryBucket(), { lists: 0 })
  for (const key of keys) bucket.objects.set(key, '')
  bucket.beforeCall = (what) => {
    if (what === 'list') bucket.lists++
  }
  return bucket
}

t.test('listPastUnits returns each archived or deleted id of the month once', async (t) => {
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
  const units = await listUnits('acme', bucket)
  t.strictSame([...units.keys()].sort(), [first, last, both].sort())
  t.ok([...units.values()].every((cost) => cost === 1))
})

t.test('listPastUnits needs one list for a new account', async (t) => {
  const bucket = aBucket()
  t.equal((await listUnits('new', bucket)).size, 0)
  t.equal(bucket.lists, 1)
})

t.test('listPastUnits reads page by page, and not beyond the month', async (t) => {
  const month = Array.from({ length: 1_500 }, (_, n) => recordKey('acme', idAt(new Date(NOW.getTime() - n * 600_000).toISOString())))
  const years = Array.from({ length: 5_000 }, (_, n) =>
    recordKey('acme', idAt(new Date(Date.UTC(2026, 9, 31) - n * 600_000).toISOString())),
  )
  const bucket = aBucket(...month, ...years)
  t.equal((await listUnits('acme', bucket)).size, 1_500)
  t.equal(bucket.lists, 2)
})

t.test('listPastUnits reads the units of videos from the segments, and ignores records that are not in place', async (t) => {
  const record = (format: 'mp4' | 'png', accountName = 'acme') => {
    const id = newId('scr', new Date('2026-11-20T10:00:00Z'))
    const options = { format, ...(format === 'mp4' ? { videoDuration: 35 } : {}) }
    return aScreenshot({ name: toObjectName(id), metadata: { uid: id }, spec: { accountName, options }, status: { phase: 'Completed' } })
  }
  const [video, picture, foreign] = [record('mp4'), record('png'), record('mp4', 'other')]
  const ids = [video, picture, foreign].map(({ metadata }) => metadata.uid)
  const segments = buildSegments('acme', [video, picture, foreign])
  const bucket = aBucket(...ids.map((id) => recordKey('acme', id)), ...segments.map(({ key }) => key))
  for (const { key, text } of segments) bucket.objects.set(key, text)
  t.strictSame(await listUnits('acme', bucket), new Map([...ids].sort().map((id) => [id, id === video.metadata.uid ? 4 : 1])))
  t.match(ignored, [new RegExp(`#${foreign.metadata.uid}$`)])
})
