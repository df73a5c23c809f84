import t from 'tap'
import { createdAtOf } from '../../../crds/src/identifiers/ids.ts'
import { dayOf, dayPrefix, recordKey, rewritesPrefix, segmentsPrefix } from '../../../crds/src/records/storage-keys.ts'
import { eventually } from '../../support/eventually.ts'
import { buildSegments } from '../../support/fakes/builders.ts'
import { call } from '../api-gateway/client.ts'
import { ACCOUNT, ago, DAY, startStage } from './stage.ts'

const stage = await startStage(t)
const { get, remove, liveIds, listIds, hasFile, hasObject, keysUnder } = stage
const whenArchived = () => eventually('all are archived', async () => (await liveIds()).length === 0)

t.test('files expire after the retention of their plan, and records after theirs', async (t) => {
  const young = await stage.addRecord({ createdAt: ago(29 * DAY) })
  const old = await stage.addRecord({ createdAt: ago(30 * DAY + 1) })
  const orphan = `users/${ACCOUNT}/${old.slice(0, -1)}0.png`
  await stage.world.bucket.putObject('tintype', orphan, 'unknown')
  const first = await stage.startOperator()
  await whenArchived()
  await first.end('SIGTERM')
  const [oldest = ''] = await stage.addArchived(1, () => ({ createdAt: ago(402 * DAY) }))
  t.strictSame(await listIds(), [young, old, oldest].sort())

  // The next leader starts with an expiry.
  const second = await stage.startOperator()
  await eventually(
    'expired files and records were deleted',
    async () => !(await hasFile(old)) && (await keysUnder(dayPrefix(ACCOUNT, dayOf(oldest)))).length === 0,
  )
  t.notOk(await hasObject(orphan), 'also files that a crash left')
  t.ok(await hasFile(young))
  t.strictSame(await listIds(), [young, old].sort())
  t.equal((await get(`/screenshots/${oldest}`)).status, 404)

  const { body: record } = await get(`/screenshots/${old}`)
  t.match(record, { status: 'completed', download_url: null, download_url_expires_at: null, file_size_bytes: Number })
  const download = await get(`/screenshots/${old}/download`)
  t.equal(download.status, 410)
  t.equal(download.body.error.code, 'EXPIRED')

  const { body: kept } = await get(`/screenshots/${young}`)
  const end = createdAtOf(young).getTime() + 30 * DAY
  t.ok(Date.parse(kept.download_url_expires_at) <= end, 'no link outlives its file')
  t.equal((await call(kept.download_url)).status, 200)
  await second.end('SIGTERM')
})

t.test('segments are rewritten without deleted records, and small ones of a past day are joined', async (t) => {
  const createdAt = ago(3 * DAY)
  const ids: string[] = []
  const first = await stage.startOperator()
  for (let round = 0; round < 3; round++) {
    ids.push(...(await stage.addRecords(10, () => ({ createdAt }))))
    await whenArchived()
  }
  const day = dayOf(ids[0]!)
  const segments = () => keysUnder(segmentsPrefix(ACCOUNT, day))
  t.ok((await segments()).length >= 3)
  const doomed = [ids[3]!, ids[17]!, ids[29]!]
  for (const id of doomed) t.equal((await remove(id)).status, 204)
  const kept = ids.filter((id) => !doomed.includes(id)).sort()
  const listed = async () => (await listIds()).filter((id) => ids.includes(id))
  t.strictSame(await listed(), kept)
  await first.end('SIGTERM')

  await stage.startOperator()
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

t.test('a list continues when segments are replaced while it is read', async (t) => {
  const createdAt = ago(5 * DAY)
  const operator = await stage.startOperator()
  const ids = await stage.addRecords(20, () => ({ createdAt }))
  await whenArchived()
  await operator.end('SIGTERM')
  const inDay = async () => (await listIds('', 7)).filter((id) => ids.includes(id))
  const day = dayOf(ids[0]!)
  const names = await keysUnder(segmentsPrefix(ACCOUNT, day))
  t.strictSame(await inDay(), ids)
  // As a rewrite does: first the joined segment is written, then the old ones are deleted.
  const screenshots = await Promise.all(ids.map((id) => stage.archived(id)))
  const [joined] = buildSegments(ACCOUNT, screenshots)
  let walks = 0
  const walking = (async () => {
    for (; walks < 10; walks++) t.strictSame(await inDay(), ids)
  })()
  await stage.world.bucket.putObject('tintype', joined!.key, joined!.text)
  await stage.world.bucket.removeObjects(
    'tintype',
    names.filter((name) => name !== joined!.key),
  )
  await walking
  t.strictSame(await inDay(), ids)
})
