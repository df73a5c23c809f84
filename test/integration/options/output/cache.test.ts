import { createHash } from 'node:crypto'
import t from 'tap'
import { mergePatch } from '../../../../crds/client/resource.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import { artifactsOf } from '../../../../crds/src/options/artifacts.ts'
import { accountOf } from '../../../../crds/src/records/record.ts'
import { objectKey } from '../../../../crds/src/records/storage-keys.ts'
import { certificatePaths } from '../../../cluster/kubernetes/pki.ts'
import { eventually } from '../../../support/eventually.ts'
import { completedStatus } from '../../../support/fakes/builders.ts'
import { startHttpsReceiver } from '../../../support/servers/https-receiver.ts'
import { call } from '../../api-gateway/client.ts'
import { ACCOUNT, startStage } from '../../retention/stage.ts'

// Requests that reuse an earlier screenshot, with a real API server and a real storage, and gateway and operator as separate processes.
// There is no pool, so anything completed without `complete` was completed without a runner.

const stage = await startStage(t)
const { world } = stage
const directory = t.testdir({})
// The operator never posts to 127.0.0.1, its own address.
const receiver = await startHttpsReceiver({ directory, host: '127.0.0.2', names: ['IP:127.0.0.2'] })
t.teardown(() => receiver.close())
const operator = await stage.startOperator({
  TINTYPE_RETENTION_LIVE_FOR_SECONDS: '3600',
  TINTYPE_WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
  TINTYPE_WEBHOOK_EXTRA_CA_FILE: certificatePaths(directory, 'ca').certificate,
})
await eventually('the operator leads', () => operator.isLeader())
await stage.subscribe(ACCOUNT, `${receiver.url}/in`)
const url = 'https://example.com/'
const PICTURE = Buffer.from('the first picture')
let pages = 0
/** A page that no other test uses. */
const newPage = (): string => `${url}${++pages}`

type Options = Record<string, unknown>
async function create(page: string, options: Options = {}, key = stage.key): Promise<string> {
  const { status, body } = await call(`${stage.gateway.url}/v1/screenshots`, { method: 'POST', key, body: { url: page, options } })
  if (status !== 202) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body.id
}
const read = async (id: string) => (await stage.get(`/screenshots/${id}`)).body
const objectOf = (id: string): Promise<Screenshot> => world.screenshots.get(toObjectName(id))
/** The record once the gateway knows the result. Its watch may be later than the object. */
const finished = (id: string) =>
  eventually(`${id} is finished`, async () => {
    const record = await read(id)
    return record.status !== 'pending' && record
  })
/** True if only a runner could complete it. */
const waits = async (id: string): Promise<boolean> => {
  const { spec } = await objectOf(id)
  return spec.cachedFrom === undefined && (await read(id)).status === 'pending'
}
/** Completes a capture like a runner, in one write, because the operator would release a claim of a pod that does not exist. */
async function complete(id: string, bytes: Buffer): Promise<void> {
  const shot = await objectOf(id)
  const artifacts = artifactsOf(shot.spec.options)
  for (const extension of ['png', ...artifacts.map((artifact) => artifact.extension)])
    await world.bucket.putObject('tintype', objectKey(accountOf(shot), id, extension), bytes)
  const etag = createHash('md5').update(bytes).digest('hex')
  const file = { fileSizeBytes: bytes.length, etag }
  const result = {
    format: 'png' as const,
    width: 4,
    height: 3,
    pageTitle: 'A page',
    ...file,
    artifacts: artifacts.map(({ type }) => ({ type, ...file })),
  }
  const completionTime = new Date().toISOString()
  const status = completedStatus({ startTime: completionTime, completionTime, result })
  await world.screenshots.patch(shot.metadata.name, mergePatch({ status }), { subresource: 'status' })
}
/** Captures a page, and waits until later requests find its screenshot. */
async function capture(page: string, options: Options, key = stage.key): Promise<string> {
  const id = await create(page, options, key)
  await complete(id, PICTURE)
  const { cacheAs = '', accountName } = (await objectOf(id)).spec
  await eventually('the picture is stored', () => stage.hasObject(`cache/${accountName}/${cacheAs}.json`))
  return id
}
const download = async (id: string): Promise<string> => {
  const { download_url: link } = await read(id)
  return Buffer.from(await (await fetch(link)).arrayBuffer()).toString()
}
const eventsOf = (id: string) =>
  receiver.received.map(({ body }) => JSON.parse(body.toString())).filter(({ data }) => data.screenshot.id === id)
const used = async () => (await world.usages.get(ACCOUNT)).status?.used

t.test('option cache: completes an equal request with the earlier screenshot, without a runner and without a charge', async (t) => {
  const page = newPage()
  const first = await capture(page, { cache: true, delay: 5 })
  t.match(await finished(first), { cached: false, attempts: 1 })
  const before = await used()
  const second = await create(page, { delay: 5, timeout: 9_000, format: 'png', cache: true })
  const record = await finished(second)
  t.match(record, { status: 'completed', cached: true, attempts: 0, width: 4, height: 3, error: null, metadata: { page_title: 'A page' } })
  t.equal(record.storage_path, objectKey(ACCOUNT, second, 'png'))
  t.equal(await download(second), PICTURE.toString())
  await eventually('its unit is refunded', async () => (await used()) === before)
  await eventually('its event is delivered', async () => eventsOf(second).length > 0)
  t.match(eventsOf(second), [
    { type: 'screenshot.completed', data: { screenshot: { status: 'completed', cached: true, file_size_bytes: PICTURE.length } } },
  ])
  // The count is written first, then the mark that it was counted.
  const conditions = await eventually('its refund is recorded', async () => {
    const all = (await objectOf(second)).status?.conditions ?? []
    return all.some(({ type }) => type === 'Refunded') && all
  })
  // An operator that sees the screenshot before its pool adds the condition Runnable.
  t.match(
    conditions.filter(({ type }) => type !== 'Runnable'),
    [{ reason: 'Cached' }, { type: 'Finished' }, { type: 'Refunded', reason: 'Cached' }],
  )
})

t.test('a request with other visible options, secrets or account reuses no screenshot', async (t) => {
  const page = newPage()
  await capture(page, { cache: true, headers: { a: 'Zq7secret' } })
  t.ok(await waits(await create(page, { cache: true })), 'without the header')
  t.ok(await waits(await create(page, { cache: true, headers: { a: 'another' } })), 'with another')
  t.ok(await waits(await create(page, { cache: true, headers: { a: 'Zq7secret' }, delay: 1 })), 'with another option')
  t.ok(await waits(await create(page, { headers: { a: 'Zq7secret' } })), 'without cache')
  const other = await create(page, { cache: true, headers: { a: 'Zq7secret' } }, await world.createKey({ accountName: 'other' }))
  t.equal((await objectOf(other)).spec.cachedFrom, undefined, 'of another account')
  t.match(await finished(await create(page, { cache: true, headers: { a: 'Zq7secret' } })), { cached: true }, 'the control')
  for (const key of await stage.keysUnder('cache/')) t.notMatch(key, 'Zq7secret')
})

t.test('option cache_ttl: reuses no older screenshot', async (t) => {
  const page = newPage()
  const first = await capture(page, { cache: true })
  const { cacheAs } = (await objectOf(first)).spec
  const key = `cache/${ACCOUNT}/${cacheAs}.json`
  const entry = { version: 1, id: first, result: (await objectOf(first)).status?.result }
  const completedAt = new Date(Date.now() - 100_000).toISOString()
  await world.bucket.putObject('tintype', key, JSON.stringify({ ...entry, completedAt }))
  t.ok(await waits(await create(page, { cache: true, cache_ttl: 90 })))
  t.match(await finished(await create(page, { cache: true, cache_ttl: 3600 })), { cached: true }, 'the control')
})

t.test('option cache_key: separates equal requests', async (t) => {
  const page = newPage()
  await capture(page, { cache: true, cache_key: 'monday' })
  t.ok(await waits(await create(page, { cache: true, cache_key: 'tuesday' })))
  t.match(await finished(await create(page, { cache: true, cache_key: 'monday' })), { cached: true })
})

t.test('option cache_refresh: captures the page again, also for later requests', async (t) => {
  const page = newPage()
  await capture(page, { cache: true })
  const anew = await create(page, { cache: true, cache_refresh: true })
  t.ok(await waits(anew))
  await complete(anew, Buffer.from('the newer picture'))
  await eventually('later requests find the newer picture', async () => {
    const id = await create(page, { cache: true })
    await finished(id)
    return (await download(id)) === 'the newer picture'
  })
})

t.test('a deleted screenshot is not reused; earlier copies of it stay', async (t) => {
  const page = newPage()
  const first = await capture(page, { cache: true })
  const taken = await create(page, { cache: true })
  await finished(taken)
  t.equal((await stage.remove(first)).status, 204)
  t.ok(await waits(await create(page, { cache: true })))
  t.equal(await download(taken), PICTURE.toString())
})

t.test('if a screenshot is deleted before the request completes, the page is captured, and the result is stored', async (t) => {
  const page = newPage()
  const first = await capture(page, { cache: true })
  const { cacheAs: hash } = (await objectOf(first)).spec
  await world.bucket.removeObject('tintype', objectKey(ACCOUNT, first, 'png'))
  const name = toObjectName(first.replace(/.$/, (last) => (last === '0' ? '1' : '0')))
  await world.screenshots.create({
    metadata: { name },
    spec: { url: page, accountName: ACCOUNT, cachedFrom: hash },
  } as unknown as Screenshot)
  await eventually('it waits for a runner', async () => {
    const { status } = await world.screenshots.get(name)
    return status?.conditions?.some(({ reason }) => reason === 'PoolNotFound')
  })
  const id = name.replace('-', '_')
  await complete(id, Buffer.from('captured after all'))
  t.match(await finished(id), { cached: false, attempts: 1 })
  await eventually('its picture is stored', async () => {
    const again = await create(page, { cache: true })
    return (await objectOf(again)).spec.cachedFrom === hash && (await finished(again)).cached
  })
})

t.test('each item of a batch is looked up separately, and additional files are reused too', async (t) => {
  const [known, unknown] = [newPage(), newPage()]
  await capture(known, { cache: true, save_html: true })
  const body = { urls: [known, unknown], options: { cache: true, save_html: true } }
  const { body: batch } = await call(`${stage.gateway.url}/v1/screenshots/batch`, { method: 'POST', key: stage.key, body })
  const [hit, miss] = batch.screenshots.map(({ id }: { id: string }) => id)
  const record = await finished(hit)
  t.match(record, { cached: true, artifacts: [{ type: 'html', file_size_bytes: PICTURE.length }] })
  t.equal((await fetch(record.artifacts[0].download_url)).status, 200)
  t.ok(await waits(miss))
})
