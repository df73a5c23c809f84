import { createHash, randomUUID } from 'node:crypto'
import t from 'tap'
import { mergePatch } from '../../../../crds/client/resource.ts'
import { createdAtOf, newId } from '../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { expiryKey, objectKey } from '../../../../crds/src/records/storage-keys.ts'
import { eventually } from '../../../support/eventually.ts'
import { completedStatus, failedStatus } from '../../../support/fakes/builders.ts'
import { call } from '../../api-gateway/client.ts'
import { ACCOUNT, ago, DAY, PICTURE, startStage } from '../../retention/stage.ts'

// Delivery of screenshot and record to the caller, with a real API server, a real storage and a gateway, and an operator for expiring files; and requests
// with compare_to.
// The tests of `webhook_url` and `webhook_events` are in test/integration/delivery.

const stage = await startStage(t)
const { world, gateway, key } = stage
const url = 'https://example.com/'

const post = (body: object, query = '') => call(`${gateway.url}/v1/screenshots${query}`, { method: 'POST', key, body: { url, ...body } })
const read = async (id: string) => (await stage.get(`/screenshots/${id}`)).body
const pendingIds = async () => (await stage.get('/screenshots?status=pending')).body.data.map(({ id }: { id: string }) => id)

/** Completes a capture like a runner. */
async function complete(id: string): Promise<void> {
  await world.bucket.putObject('tintype', objectKey(ACCOUNT, id, 'png'), PICTURE)
  const completionTime = new Date().toISOString()
  const etag = createHash('md5').update(PICTURE).digest('hex')
  const result = { format: 'png' as const, fileSizeBytes: PICTURE.length, etag, width: 4, height: 3 }
  const status = completedStatus({ startTime: completionTime, completionTime, result })
  await world.screenshots.patch(toObjectName(id), mergePatch({ status }), { subresource: 'status' })
  await eventually('the gateway knows the result', async () => (await read(id)).status === 'completed')
}
/** A request that waits, and whose capture is completed meanwhile. */
async function held(body: object) {
  const before = await pendingIds()
  const answer = post(body)
  const id = await eventually('it is pending', async () => (await pendingIds()).find((other: string) => !before.includes(other)))
  await complete(id)
  return { id, answer: await answer }
}

t.test('option async: false returns the finished record, true never waits', async (t) => {
  const { id, answer } = await held({ async: false })
  t.match(answer, { status: 200, body: { id, status: 'completed' } })
  t.match(await post({ async: true, response_type: 'by_format' }), { status: 202, body: { status: 'pending' } })
})

t.test('option response_type: by_format returns the file, empty returns no body', async (t) => {
  const file = await held({ response_type: 'by_format' })
  t.match({ status: file.answer.status, type: file.answer.headers.get('content-type') }, { status: 200, type: 'image/png' })
  t.equal(file.answer.body.toString(), PICTURE.toString())
  const empty = await held({ response_type: 'empty', async: false })
  t.match({ status: empty.answer.status, length: empty.answer.body.length }, { status: 204, length: 0 })
  t.match((await held({ response_type: 'json', async: false })).answer, { status: 200, body: { status: 'completed' } })
})

t.test('option attachment_name: sets the file name of a download', async (t) => {
  const { id } = (await post({ options: { attachment_name: 'Größe 1.png' } })).body
  const plain = (await post({})).body.id
  await Promise.all([complete(id), complete(plain)])
  const nameOf = async (shot: string) => (await fetch((await read(shot)).download_url)).headers.get('content-disposition') ?? ''
  t.match(await nameOf(id), /^attachment; .*filename\*=UTF-8''Gr%C3%B6%C3%9Fe%201\.png/)
  t.match(await nameOf(plain), /^inline/)
})

t.test('option download_url_ttl: limits the lifetime of a link', async (t) => {
  const { id } = (await post({ download_url_ttl: 60 })).body
  await complete(id)
  const { download_url: link, download_url_expires_at: end } = await read(id)
  t.ok(Date.parse(end) - Date.now() <= 120_000, end)
  t.equal((await fetch(link)).status, 200)
  const later = new URL(link)
  later.searchParams.set('expires', String(Number(later.searchParams.get('expires')) + 60))
  t.equal((await fetch(later)).status, 403, 'a client cannot extend it')
})

t.test('option external_identifier: is in the record, and filters lists', async (t) => {
  const { id } = (await post({ external_identifier: 'order-1042' })).body
  t.equal((await read(id)).external_identifier, 'order-1042')
  const { body } = await stage.get('/screenshots?external_identifier=order-1042')
  t.strictSame(
    body.data.map((record: { id: string }) => record.id),
    [id],
  )
})

const compare = (options: Record<string, unknown>, key: string = randomUUID()) =>
  call(`${gateway.url}/v1/screenshots`, { method: 'POST', key: stage.key, body: { url, options }, headers: { 'idempotency-key': key } })
const used = async (): Promise<number> => (await world.usages.find(ACCOUNT))?.status?.used ?? 0

t.test('a request with compare_to of a screenshot without a picture is refused, and charges nothing', async (t) => {
  const refused = {
    unknown: ['scr_6ybsne2r7m8z0q3x5v1c4h9kfd', 404, 'NOT_FOUND'],
    'of another account': [await stage.addRecord({ account: 'other' }), 404, 'NOT_FOUND'],
    deleted: [await stage.addRecord(), 404, 'NOT_FOUND'],
    pending: [(await post({ async: true })).body.id, 409, 'NOT_READY'],
    expired: [await stage.addRecord({ hasFile: false }), 410, 'EXPIRED'],
    failed: [await stage.addRecord({ status: failedStatus(), hasFile: false }), 422, 'NOT_COMPARABLE'],
    'a pdf': [await stage.addRecord({ spec: { options: { format: 'pdf' } } }), 422, 'NOT_COMPARABLE'],
  } as const
  t.equal((await stage.remove(refused.deleted[0])).status, 204)
  const before = await used()
  for (const [what, [id, status, code]] of Object.entries(refused)) {
    const error = { code, message: new RegExp(`^compare_to: .*${id}`) }
    t.match(await compare({ compare_to: id }), { status, body: { success: false, error } }, what)
  }
  t.equal(await used(), before)
})

t.test('a request with compare_to that is refused does not keep its Idempotency-Key', async (t) => {
  const key = randomUUID()
  const id = await stage.addRecord({ hasFile: false })
  t.equal((await compare({ compare_to: id }, key)).status, 410)
  await world.bucket.putObject('tintype', objectKey(ACCOUNT, id, 'png'), Buffer.from('a picture'))
  const accepted = await compare({ compare_to: id, compare_ignore: ['#clock'] }, key)
  t.equal(accepted.status, 202)
  t.match((await world.screenshots.get(toObjectName(accepted.body.id))).spec.options, { compareTo: id })
  t.equal((await stage.remove(id)).status, 204)
  const repeated = await compare({ compare_to: id, compare_ignore: ['#clock'] }, key)
  t.match(repeated, { status: 202, body: { id: accepted.body.id } }, 'a repetition does not check again')
})

t.test('the API server accepts a selector or a region in compare_ignore, and nothing else', async (t) => {
  const create = (compareIgnore: unknown[]) => {
    const options = { compareIgnore } as CaptureOptions
    return world.screenshots.create({
      metadata: { name: `shot-${randomUUID()}` },
      spec: { url, accountName: ACCOUNT, options },
    } as Screenshot)
  }
  const region = { x: 0, y: 0, width: 1, height: 1 }
  for (const entry of [{}, { x: 0, y: 0, width: 1 }, { selector: 'p', ...region }])
    await t.rejects(create([entry]), { status: 422, message: /compareIgnore/ }, JSON.stringify(entry))
  await t.resolves(create([{ selector: 'p' }, region]))
})

t.test('option retention_days: deletes files earlier than the plan, and never keeps them longer', async (t) => {
  const { id } = (await post({ options: { retention_days: 2 }, download_url_ttl: 604_800 })).body
  await complete(id)
  const twoDays = createdAtOf(id).getTime() + 2 * DAY
  t.ok(Math.abs(Date.parse((await read(id)).download_url_expires_at) - twoDays) < 1_000, 'no link outlives its file')
  t.match(await post({ retention_days: 91 }), { status: 400, body: { error: { details: [{ path: 'retention_days', code: 'too_big' }] } } })

  // A new leader expires files at once, and again after an hour. A marker without a file shows that its first run has ended.
  const probe = expiryKey(ACCOUNT, newId('scr', ago(2 * DAY)), ago(DAY))
  await world.bucket.putObject('tintype', probe, '')
  const first = await stage.startOperator()
  await eventually('the first round has ended', async () => !(await stage.hasObject(probe)))

  const old = await stage.addRecord({ createdAt: ago(3 * DAY), spec: { retentionDays: 2 } })
  const young = await stage.addRecord({ createdAt: ago(3 * DAY), spec: { retentionDays: 4 } })
  t.match(await read(old), { status: 'completed', download_url: null }, 'an expired file has no link')
  const marks = [old, young].map((each, index) => expiryKey(ACCOUNT, each, new Date(createdAtOf(each).getTime() + (2 + 2 * index) * DAY)))
  await eventually('they are archived and marked', async () => {
    const found = await stage.keysUnder('expiries/')
    return marks.every((mark) => found.includes(mark))
  })
  // A record that still exists is archived and marked again.
  await eventually('they are no longer in the Kubernetes API', async () => {
    const live = await stage.liveIds()
    return ![old, young].some((each) => live.includes(each))
  })
  await first.end('SIGTERM')
  await stage.startOperator()
  await eventually('its file is deleted', async () => !(await stage.hasFile(old)))
  await eventually('its mark is deleted', async () => !(await stage.hasObject(marks[0] ?? '')))
  t.ok(await stage.hasFile(young), 'the control')
  t.ok(await stage.hasObject(marks[1] ?? ''))
  t.match(await read(old), { status: 'completed', download_url: null }, 'the record stays')
})
