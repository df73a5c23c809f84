import t from 'tap'
import { createdAtOf } from '../../../crds/src/identifiers/ids.ts'
import { dayOf, dayPrefix, recordKey, rewritesPrefix, segmentsPrefix } from '../../../crds/src/records/storage-keys.ts'
import { eventually } from '../../support/eventually.ts'
import { call } from '../api-gateway/client.ts'
import { ACCOUNT, ago, DAY, startStage } from './stage.ts'

// What the second leader finds: records of several ages, and a past day with small segments and deleted records. It starts with an expiry and a rewrite.

const stage = await startStage(t)
const { get, remove, liveIds, listIds, hasFile, hasObject, keysUnder } = stage
const first = await stage.startOperator()
const young = await stage.addRecord({ createdAt: ago(29 * DAY) })
const old = await stage.addRecord({ createdAt: ago(30 * DAY + 1) })
const orphan = `users/${ACCOUNT}/${old.slice(0, -1)}0.png`
await stage.world.bucket.putObject('tintype', orphan, 'unknown')
const ids: string[] = []
for (let round = 0; round < 3; round++) {
  ids.push(...(await stage.addRecords(10, () => ({ createdAt: ago(3 * DAY) }))))
  await eventually('all are archived', async () => (await liveIds()).length === 0)
}
await first.end('SIGTERM')
const [oldest = ''] = await stage.addArchived(1, () => ({ createdAt: ago(402 * DAY) }))
const day = dayOf(ids[0]!)
const segments = () => keysUnder(segmentsPrefix(ACCOUNT, day))
const doomed = [ids[3]!, ids[17]!, ids[29]!]
const kept = ids.filter((id) => !doomed.includes(id)).sort()
/** The records of that day. */
const listed = async () => (await listIds()).filter((id) => ids.includes(id))

t.test('an archived record can be deleted once, and never reappears', async (t) => {
  t.ok((await segments()).length >= 3)
  t.strictSame(await listIds(), [young, old, oldest, ...ids].sort())
  const link = (await get(`/screenshots/${doomed[0]}`)).body.download_url
  for (const status of [204, 404]) for (const id of doomed) t.equal((await remove(id)).status, status)
  t.equal((await call(link)).status, 404)
  t.notOk(await hasFile(doomed[0]!))
  t.strictSame(await listed(), kept)
  await stage.startOperator()
})

t.test('files expire after the retention of their plan, and records after theirs', async (t) => {
  await eventually(
    'expired files and records were deleted',
    async () => !(await hasFile(old)) && (await keysUnder(dayPrefix(ACCOUNT, dayOf(oldest)))).length === 0,
  )
  t.notOk(await hasObject(orphan), 'also files that a crash left')
  t.ok(await hasFile(young))
  t.strictSame(
    (await listIds()).filter((id) => !ids.includes(id)),
    [young, old].sort(),
  )
  t.equal((await get(`/screenshots/${oldest}`)).status, 404)

  const { body: record } = await get(`/screenshots/${old}`)
  t.match(record, { status: 'completed', download_url: null, download_url_expires_at: null, file_size_bytes: Number })
  const download = await get(`/screenshots/${old}/download`)
  t.equal(download.status, 410)
  t.equal(download.body.error.code, 'EXPIRED')

  const { body: shown } = await get(`/screenshots/${young}`)
  const end = createdAtOf(young).getTime() + 30 * DAY
  t.ok(Date.parse(shown.download_url_expires_at) <= end, 'no link outlives its file')
  t.equal((await call(shown.download_url)).status, 200)
})

t.test('segments are rewritten without deleted records, and small ones of a past day are joined', async (t) => {
  await eventually('the marks are processed', async () => (await keysUnder(`${rewritesPrefix(ACCOUNT)}${day}/`)).length === 0)
  t.equal((await segments()).length, 1)
  const stream = await stage.world.bucket.getObject('tintype', (await segments())[0]!)
  const text = (await stream.toArray()).join('')
  t.strictSame(
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id),
    kept,
  )
  for (const id of doomed) t.notOk(await hasObject(recordKey(ACCOUNT, id)))
  t.strictSame(await listed(), kept)
  for (const id of doomed) t.equal((await get(`/screenshots/${id}`)).status, 404)
})
