import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { mergePatch } from '../../../crds/client/resource.ts'
import { createdAtOf, screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import type { Screenshot, ScreenshotSpec } from '../../../crds/src/kinds/screenshot.ts'
import { objectKey } from '../../../crds/src/records/storage-keys.ts'
import { findCondition } from '../../../crds/src/schema/conditions.ts'
import { eventually } from '../../support/eventually.ts'
import { completedStatus, failedStatus } from '../../support/fakes/builders.ts'
import { isFullLength } from '../../support/length.ts'
import { call } from '../api-gateway/client.ts'
import type { Program } from '../operator/program.ts'
import { ACCOUNT, ago, PICTURE, startStage } from './stage.ts'

const stage = await startStage(t)
const { world, get, remove, liveIds, listIds } = stage
const APPLIER = 'applier'
for (const name of ['pages', APPLIER, ACCOUNT]) await stage.switchAccount(name)
let operator: Program

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

  operator = await stage.startOperator()
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

const COUNT = isFullLength ? 2_500 : 1_200
const MOVING = 0.5 * COUNT
const HOUR = 3_600_000

t.test('pages are exact over the records of three days, while many of them are archived', async (t) => {
  await operator.end('SIGTERM')
  await stage.switchAccount('pages')
  // Spread over 60 hours, with ends in a different order than starts.
  const record = (n: number) => ({ createdAt: ago((n % 61) * HOUR), hasFile: false, spec: { batchId: `batch_${n % 5}` } })
  const archived = await stage.addArchived(COUNT - MOVING, record)
  const moving = await stage.addRecords(MOVING, record)
  const ids = [...archived, ...moving].sort()
  await eventually('the gateway has seen all', async () => (await listIds('&status=completed', 500)).length === COUNT)
  await stage.startOperator()
  let rounds = 0
  for (let isDone = false; !isDone; rounds++) {
    isDone = (await liveIds()).length === 0
    const limit = [100, 37, 500, 250][rounds % 4]!
    t.strictSame(await listIds('', limit), ids, `round ${rounds}, ${limit} a page`)
  }
  t.ok(rounds > 1, `${rounds} walks while records moved`)
  t.equal((await listIds('&batch_id=batch_3', 100)).length, COUNT / 5)
  t.strictSame(
    (await get('/screenshots?limit=5&offset=600')).body.data.map(({ id }: { id: string }) => id),
    ids.slice(600, 605),
  )
  const middle = createdAtOf(ids[0.4 * COUNT]!).toISOString()
  const older = await listIds(`&created_before=${middle}`)
  const younger = await listIds(`&created_after=${middle}`)
  t.ok(older.length > 0.4 * COUNT && younger.length > 0.35 * COUNT)
  t.notOk(older.some((id) => younger.includes(id)))
})

// Screenshots that are applied again after their record was archived, as GitOps does. No runner exists, so nothing can be captured.

const apply = (name: string, spec: Partial<ScreenshotSpec> = {}): Promise<Screenshot> =>
  world.screenshots.create({
    metadata: { name },
    spec: { options: { fullPage: true, format: 'png' }, accountName: APPLIER, url: `https://example.com/${name}`, ...spec },
  } as unknown as Screenshot)

/** Ends the capture of a Screenshot, and waits until its record is archived. */
async function capture(shot: Screenshot, status = completedStatus()): Promise<string> {
  const id = screenshotIdOf(shot.metadata)
  await world.bucket.putObject('tintype', objectKey(APPLIER, id, 'png'), PICTURE)
  const result = { ...status.result, ...(status.phase === 'Completed' ? { fileSizeBytes: PICTURE.length } : {}) }
  const ended = { ...status, result, completionTime: new Date().toISOString() }
  await world.screenshots.patch(shot.metadata.name, mergePatch({ status: ended }), { subresource: 'status' })
  await eventually('the record is archived', async () => (await world.screenshots.find(shot.metadata.name)) === undefined)
  return id
}

const whenRestored = (name: string) =>
  eventually(`${name} is restored`, async () => {
    const shot = await world.screenshots.get(name)
    return shot.status?.restoredFrom !== undefined && shot
  })

t.test('a Screenshot applied again takes the result of its record, and is neither captured nor charged', async (t) => {
  await stage.switchAccount(APPLIER)
  const first = await apply('home')
  const id = await capture(first)
  const before = await get(`/screenshots/${id}`)
  t.equal(before.status, 200)
  const again = await apply('home', { accountName: APPLIER, options: { format: 'png', fullPage: true } })
  t.not(screenshotIdOf(again.metadata), id)
  const restored = await whenRestored('home')
  t.match(restored.status, {
    phase: 'Completed',
    restoredFrom: id,
    id,
    storagePath: objectKey(APPLIER, id, 'png'),
    result: { ...completedStatus().result, fileSizeBytes: PICTURE.length },
  })
  t.equal(findCondition(restored.status?.conditions, 'Finished')?.status, 'True')
  t.equal(restored.status?.attempt, undefined)
  t.equal((await world.usages.find(APPLIER))?.status?.used ?? 0, 0)
  await capture(await apply('later'))
  t.equal((await world.screenshots.get('home')).metadata.uid, again.metadata.uid, 'it stays, because it would be applied again')
  t.strictSame(
    (await listIds()).filter((listed) => listed === id || listed === screenshotIdOf(again.metadata)),
    [id],
    'clients see one record',
  )
  t.strictSame((await get(`/screenshots/${id}`)).body, before.body)
  t.equal((await get(`/screenshots/${screenshotIdOf(again.metadata)}`)).status, 404)
  await world.screenshots.delete('home')
  await capture(await apply('last'))
  t.strictSame((await get(`/screenshots/${id}`)).body, before.body, 'its deletion leaves the record')
  await apply('home')
  t.equal((await whenRestored('home')).status?.restoredFrom, id)
})

t.test('a Screenshot with a name of 253 characters and 1.2 MB of html is archived whole, and takes the result of its record', async (t) => {
  const name = 'n'.repeat(253)
  const html = `<!doctype html><p>${'é '.repeat(400_000)}`
  const hideSelectors = Array.from({ length: 30 }, (_, n) => `#a${n}${'x'.repeat(400)}`)
  const options = { html, hideSelectors }
  const first = await apply(name, { options })
  const shownId = screenshotIdOf(first.metadata)
  const { body: pending } = await eventually('the gateway shows it', async () => {
    const shown = await get(`/screenshots/${shownId}`)
    return shown.status === 200 && shown
  })
  t.equal(pending.options.html, `${html.slice(0, 64)}…`)
  t.strictSame(pending.options.hide_selectors, hideSelectors)
  const listed = async () => (await get('/screenshots?limit=100')).body.data.find(({ id }: { id: string }) => id === shownId)
  t.match(await listed(), { options: { html: pending.options.html, hide_selectors: '…' } })
  const id = await capture(first)
  t.ok(isDeepStrictEqual((await stage.archived(id)).spec, first.spec), 'the record has all of it')
  t.strictSame((await get(`/screenshots/${id}`)).body.options, pending.options)
  t.equal((await listed()).options.html, pending.options.html)
  await apply(name, { options })
  t.equal((await whenRestored(name)).status?.restoredFrom, id)
})
