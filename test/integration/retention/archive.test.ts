import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { mergePatch } from '../../../crds/client/patch.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { recordKey } from '../../../crds/src/records/storage-keys.ts'
import { openPrefix } from '../../../crds/src/webhooks/undelivered.ts'
import { eventually } from '../../support/eventually.ts'
import { failedStatus } from '../../support/fakes/builders.ts'
import { call } from '../api-gateway/client.ts'
import { ACCOUNT, PICTURE, startStage } from './stage.ts'

const stage = await startStage(t)
const { world, get, remove, liveIds, listIds } = stage
const isArchived = (id: string) => async () => !(await liveIds()).includes(id) && (await stage.hasObject(recordKey(ACCOUNT, id)))

t.test('a record moves to the archive, and no reader sees a difference', async (t) => {
  const ids = await stage.addRecords(30, (n) => ({
    spec: { externalIdentifier: `order-${n}`, batchId: `batch_${n % 2}`, attachmentName: 'Seite ä.png' },
    ...(n % 10 === 0 ? { status: failedStatus({ completionTime: new Date().toISOString() }), hasFile: false } : {}),
  }))
  await eventually('the gateway has seen all', async () => (await listIds('&status=completed,failed')).length === 30)
  const read = (id: string) => get(`/screenshots/${id}`)
  const before = await Promise.all(ids.map(read))
  const list = (await get('/screenshots')).body
  t.strictSame(
    list.data.map(({ id }: { id: string }) => id),
    ids,
  )

  const operator = await stage.startOperator()
  let rounds = 0
  const changes: unknown[] = []
  const look = async () => {
    const seen = (await get('/screenshots')).body
    if (!isDeepStrictEqual(seen, list)) changes.push({ round: rounds, list: seen })
    const one = rounds++ % ids.length
    const { body } = await read(ids[one]!)
    if (!isDeepStrictEqual(body, before[one]?.body)) changes.push({ round: rounds, record: body, before: before[one]?.body })
    return (await liveIds()).length === 0
  }
  await eventually('all are archived', look).catch((error: unknown) => t.fail(operator.output(), { error }))
  t.strictSame(changes, [], 'the list and each record stay the same meanwhile')
  t.strictSame((await get('/screenshots')).body, list)
  const after = await Promise.all(ids.map(read))
  t.strictSame(
    after.map(({ status, body }) => ({ status, body })),
    before.map(({ body }) => ({ status: 200, body })),
  )
  // The operator refunds a failed capture before it is archived, so its record has another version.
  const isCompleted = ({ body }: { body: { status: string } }) => body.status === 'completed'
  t.strictSame(
    after.filter(isCompleted).map(({ headers }) => headers.get('etag')),
    before.filter(isCompleted).map(({ headers }) => headers.get('etag')),
  )
  const again = after.map(({ body, headers }) => get(`/screenshots/${body.id}`, { 'if-none-match': headers.get('etag') ?? '' }))
  t.strictSame(
    (await Promise.all(again)).map(({ status }) => status),
    after.map(() => 304),
  )
  const completed = after.filter(isCompleted).map(({ body }) => body)
  const downloads = await Promise.all(completed.map(({ id }) => get(`/screenshots/${id}/download`)))
  t.strictSame(
    downloads.map(({ status }) => status),
    completed.map(() => 302),
  )
  const files = await Promise.all(completed.map(({ download_url: link }) => call(link)))
  t.same(
    files.map(({ body }) => body),
    completed.map(() => PICTURE),
    'each file is unchanged',
  )
  t.match(
    files.map(({ headers }) => headers.get('content-disposition')),
    completed.map(() => /^attachment; .*Seite/),
  )
  t.equal((await listIds('&batch_id=batch_1')).length, 15)
  t.equal((await listIds('&external_identifier=order-7')).length, 1)
  t.equal((await listIds('&status=failed', 1)).length, 3)
  t.strictSame(await listIds('&order=asc'), (await listIds()).toReversed(), 'and oldest first')
  t.equal((await get('/screenshots?sort=completed_at')).status, 400)
  const other = await world.createKey({ accountName: 'other' })
  t.equal((await call(`${stage.gateway.url}/v1/screenshots/${ids[1]}`, { key: other })).status, 404, 'other accounts do not see it')
  t.strictSame((await call(`${stage.gateway.url}/v1/screenshots`, { key: other })).body.data, [])
})

t.test('an archived record can be deleted once, and never reappears', async (t) => {
  const id = await stage.addRecord()
  await eventually('it is archived', isArchived(id))
  const link = (await get(`/screenshots/${id}`)).body.download_url
  t.equal((await remove(id)).status, 204)
  t.equal((await get(`/screenshots/${id}`)).status, 404)
  t.equal((await remove(id)).status, 404)
  t.notOk((await listIds()).includes(id))
  t.notOk(await stage.hasFile(id))
  t.equal((await call(link)).status, 404)
})

t.test('a record with a pending delivery is archived like others, and its delivery continues in the bucket', async (t) => {
  await stage.subscribe('other', 'https://nobody.invalid/')
  const id = await stage.addRecord({ account: 'other' })
  await eventually('it is archived', async () => (await stage.hasObject(recordKey('other', id))) && !(await liveIds()).includes(id))
  t.equal((await stage.keysUnder(openPrefix('other', { webhook: 'hook' }))).length, 1)
  t.ok(await stage.hasFile(id, 'other'))
})

t.test('a Screenshot that is deleted during its deliveries is not archived but deleted once they are settled', async (t) => {
  const entry = (state: string) => ({
    'screenshot.completed': { hook: { attempts: 1, at: new Date(Date.now() + 3_600_000).toISOString(), state } },
  })
  const id = await stage.addRecord({ status: { deliveries: entry('open') as never } })
  await eventually('the gateway has seen it', async () => (await get(`/screenshots/${id}`)).body.status === 'completed')
  t.equal((await remove(id)).status, 204)
  t.equal((await get(`/screenshots/${id}`)).status, 404)
  t.notOk((await listIds()).includes(id))
  await eventually('the operator has deleted it', async () => !(await liveIds()).includes(id))
  t.notOk(await stage.hasObject(recordKey(ACCOUNT, id)))
  t.equal((await get(`/screenshots/${id}`)).status, 404)
})

t.test('records that are deleted while they are being archived never reappear', async (t) => {
  const ids = await stage.addRecords(120, () => ({}))
  const doomed = ids.filter((_, n) => n % 2 === 0)
  const answers = await Promise.all(doomed.map(remove))
  t.ok(
    answers.every(({ status }) => status === 204),
    answers.map(({ status }) => status).join(' '),
  )
  t.strictSame(await findVisible(doomed.slice(0, 20)), [])
  await eventually('the rest is archived', async () => (await liveIds()).length === 0)
  const listed = await listIds()
  t.strictSame(
    ids.filter((id) => listed.includes(id)),
    ids.filter((_, n) => n % 2 === 1),
  )
  t.strictSame(await findVisible(doomed), [])
  const withFile: string[] = []
  for (const id of ids) if (await stage.hasFile(id)) withFile.push(id)
  t.strictSame(
    withFile,
    ids.filter((_, n) => n % 2 === 1),
  )
})

/** The ids whose record can still be read. */
async function findVisible(ids: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const id of ids) if ((await get(`/screenshots/${id}`)).status !== 404) found.push(id)
  return found
}

t.test('a change of a record while it is being archived is archived too', async (t) => {
  const ids = await stage.addRecords(40, () => ({}))
  const warnings = { status: { result: { warnings: ['late'] } } }
  const change = (id: string) =>
    world.screenshots.patch(toObjectName(id), mergePatch(warnings), { subresource: 'status' }).then(
      () => ['late'],
      () => [],
    )
  const wanted = await Promise.all(ids.map(change))
  t.ok(wanted.some(({ length }) => length > 0))
  await eventually('all are archived', async () => (await liveIds()).length === 0)
  t.strictSame(await Promise.all(ids.map(async (id) => (await get(`/screenshots/${id}`)).body.warnings)), wanted)
})
