import t from 'tap'
import { withDefaultThumbnail } from '../../../../../api-gateway/src/resources/screenshots/options/default-thumbnail.ts'
import type { CaptureOptions } from '../../../../../crds/src/options/catalog.ts'
import { DEFAULT_OPTION_POLICY } from '../../../../../crds/src/options/policy.ts'
import { cacheEntryKey, objectKey } from '../../../../../crds/src/records/storage-keys.ts'
import { completedStatus } from '../../../../support/fakes/builders.ts'
import { aGateway, aQueue, NOW, SCREENSHOT_ID, TestScreenshots } from '../../fakes.ts'
import { problemsIn } from '../../requests.ts'

// What POST /screenshots and its batch store and show.

type Gateway = ReturnType<typeof aGateway>

const url = 'https://example.com/'
const BATCH = '/screenshots/batch'

t.test('POST /screenshots responds with 202 and exactly the fields of the specification, and stores what was chosen', async (t) => {
  const gateway = aGateway()
  const { status, headers, body } = await gateway.call('POST', '/screenshots', { url, options: { full_page: true, format: 'jpeg' } })
  const { id, ...shown } = body
  t.equal(status, 202)
  t.match(headers, { location: `/api/v1/screenshots/${id}`, 'retry-after': '2' })
  t.strictSame(Object.keys(body), ['id', 'url', 'status', 'options', 'created_at', 'estimated_time'])
  t.match(id, /^scr_[0-9a-z]{26}$/)
  t.match(shown, { url, status: 'pending', created_at: NOW.toISOString(), estimated_time: '10-60s' })
  t.strictSame(body.options, { viewport_width: 1920, viewport_height: 1080, format: 'jpeg', full_page: true })
  const [{ reservation, ...spec } = {}] = gateway.screenshots.specs
  t.strictSame(spec, { url, accountName: 'acme', options: { fullPage: true, format: 'jpeg' } })
  t.match(reservation, /^res_/)
})

t.test('POST /screenshots and its batch return 403 for options that are switched off', async (t) => {
  const gateway = aGateway({ optionPolicy: { ...DEFAULT_OPTION_POLICY, scripts: false } })
  const refused = { status: 403, body: { error: { code: 'OPTION_NOT_ALLOWED', details: [{ path: 'options.init_script' }] } } }
  t.match(await gateway.call('POST', '/screenshots', { url, options: { init_script: '1' } }), refused)
  t.match(await gateway.call('POST', BATCH, { urls: [url], options: { init_script: '1' } }), refused)
  t.strictSame(gateway.screenshots.specs, [])
})

const storage = {
  storage_bucket: 'acme-pictures',
  storage_endpoint: 'https://s3.example.com',
  storage_path: '{host}/{id}.{format}',
  storage_access_key_id: 's3cret-id',
  storage_secret_access_key: 's3cret',
}

t.test('POST /screenshots rejects clients’ stores unless they are allowed', async (t) => {
  const response = await aGateway().call('POST', '/screenshots', { url, options: storage })
  t.match(response, { status: 403, body: { error: { code: 'OPTION_NOT_ALLOWED' } } })
  const names = Object.keys(storage).map((name) => `options.${name} not_allowed`)
  t.strictSame(problemsIn(response).sort(), names.sort(), 'private options too')
})

t.test('POST /screenshots seals the key of a store and shows only where it is', async (t) => {
  const gateway = aGateway({ optionPolicy: { ...DEFAULT_OPTION_POLICY, storage: true } })
  const { status, body } = await gateway.call('POST', '/screenshots', { url, options: storage })
  t.equal(status, 202)
  t.match(body.options, { ...storage, storage_access_key_id: '***', storage_secret_access_key: '***' })
  t.notMatch(JSON.stringify([gateway.screenshots.specs, body]), 's3cret')
  const hiddenOptions = ['storageAccessKeyId', 'storageSecretAccessKey']
  t.match(gateway.screenshots.specs, [{ options: { storageBucket: 'acme-pictures' }, hiddenOptions }])
})

t.test('POST /screenshots rejects a private store URL and incomplete store options', async (t) => {
  const { call } = aGateway({ optionPolicy: { ...DEFAULT_OPTION_POLICY, storage: true } })
  const post = (changes: object) => call('POST', '/screenshots', { url, options: { ...storage, ...changes } })
  // Names are left to the runner, which knows what its pool may reach.
  for (const storage_endpoint of ['https://10.0.0.1', 'https://169.254.169.254', 'https://[::1]:9000', 'https://localhost:9000'])
    t.match(await post({ storage_endpoint }), { status: 400, body: { error: { details: [{ path: 'options.storage_endpoint' }] } } })
  for (const name of ['storage_endpoint', 'storage_bucket', 'storage_access_key_id', 'storage_secret_access_key'])
    t.equal((await post({ [name]: undefined })).status, 400, name)
  for (const storage_path of ['../a', '/a', 'a//b', 'a/./b', '{url}', '{id', 'a}'])
    t.equal((await post({ storage_path })).status, 400, storage_path)
})

/** Puts a picture into the cache under that hash. */
async function keep({ objects, files }: Gateway, hash = ''): Promise<void> {
  const entry = { version: 1, id: SCREENSHOT_ID, completedAt: NOW.toISOString(), result: { format: 'png', etag: 'abc' } }
  await objects.write(cacheEntryKey('acme', hash), JSON.stringify(entry))
  files.objects.set(objectKey('acme', SCREENSHOT_ID, 'png'), Buffer.from('a'))
}

t.test('POST /screenshots stores nothing of the cache’s options but what came of them', async (t) => {
  const gateway = aGateway()
  const options = { cache: true, cache_ttl: 60, cache_key: 'a', delay: 5 }
  t.match(await gateway.call('POST', '/screenshots', { url, options }), { status: 202, body: { options: { delay: 5 } } })
  const [first] = gateway.screenshots.specs
  t.match(first, { options: { delay: 5 }, cacheAs: /^[0-9a-f]{64}$/, cachedFrom: undefined })
  t.strictSame(Object.keys(first?.options ?? {}), ['delay'])
  await keep(gateway, first?.cacheAs)
  await gateway.call('POST', '/screenshots', { url, options })
  t.match(gateway.screenshots.specs[1], { cachedFrom: first?.cacheAs, cacheAs: undefined })
})

t.test('POST /screenshots/batch looks for each address by itself, with the credentials that stood in it', async (t) => {
  const gateway = aGateway()
  const batch = { urls: ['https://ada:secret@example.com/', url], options: { cache: true } }
  await gateway.call('POST', BATCH, batch)
  const [signed, plain] = gateway.screenshots.specs
  t.equal(signed?.url, plain?.url)
  t.not(signed?.cacheAs, plain?.cacheAs)
  await keep(gateway, signed?.cacheAs)
  await gateway.call('POST', BATCH, batch)
  t.match(gateway.screenshots.specs.slice(2), [{ cachedFrom: signed?.cacheAs }, { cacheAs: plain?.cacheAs }])
})

t.test('POST /screenshots and its batch reject a retention above the plan’s', async (t) => {
  const gateway = aGateway()
  const refused = { status: 400, body: { error: { details: [{ path: 'retention_days', code: 'too_big', message: /at most 30/ }] } } }
  t.match(await gateway.call('POST', '/screenshots', { url, retention_days: 31 }), refused)
  t.match(await gateway.call('POST', '/screenshots', { url, options: { retention_days: 31 } }), refused)
  t.match(await gateway.call('POST', BATCH, { urls: [url], retention_days: 31 }), refused)
  t.strictSame(gateway.screenshots.specs, [])
  t.equal((await gateway.call('POST', '/screenshots', { url, retention_days: 30 })).status, 202)
  t.match(gateway.screenshots.specs, [{ retentionDays: 30 }])
})

const thumbnail = { thumbnailWidth: 320, thumbnailHeight: 240, thumbnailFormat: 'webp' }

t.test('a screenshot gets the thumbnail of the service, unless it asks for one or cannot have one', async (t) => {
  const optionsOf = (options: CaptureOptions | undefined, width = 320) =>
    withDefaultThumbnail(options === undefined ? {} : { options }, width).options
  t.strictSame(optionsOf(undefined), thumbnail)
  t.strictSame(optionsOf({ format: 'avif', fullPage: true }), { format: 'avif', fullPage: true, ...thumbnail })
  t.equal(optionsOf({}, 16)?.thumbnailHeight, 16, 'the least height')
  t.equal(optionsOf(undefined, 0), undefined, 'switched off')
  const own: CaptureOptions[] = [{ thumbnailWidth: 100 }, { thumbnailHeight: 100 }, { thumbnailFormat: 'png' }]
  const unfit = (['pdf', 'mp4', 'webm', 'gif'] as const).map((format) => ({ format }))
  for (const options of [...own, ...unfit]) t.strictSame(optionsOf(options), options)
})

t.test('screenshots and batches of the REST API have the thumbnail of the service', async (t) => {
  const gateway = aGateway({ thumbnailWidth: 320 })
  const { body } = await gateway.call('POST', '/screenshots', { url })
  t.match(body.options, { thumbnail_width: 320, thumbnail_height: 240, thumbnail_format: 'webp' })
  t.equal((await gateway.call('POST', BATCH, { urls: ['https://example.com/a', 'https://example.com/b'] })).status, 202)
  t.strictSame(
    gateway.screenshots.specs.map(({ options }) => options),
    [thumbnail, thumbnail, thumbnail],
  )
})

/** A gateway whose accounts may have so many waiting. */
function aBoundedGateway(maxQueuedPerAccount: number) {
  const screenshots = new TestScreenshots()
  return { ...aGateway({ screenshots, queue: aQueue(screenshots, { maxQueuedPerAccount }) }), screenshots }
}

t.test('POST /screenshots responds with 503 and Retry-After when the queue is full, and writes nothing', async (t) => {
  const { call, screenshots, objects, quota, webhooks } = aBoundedGateway(1)
  t.equal((await call('POST', '/screenshots', { url })).status, 202)
  const written = () => [objects.objects.size, screenshots.objects.size, webhooks.objects.length, JSON.stringify(quota.usage)]
  const before = written()
  const refused = { status: 503, headers: { 'retry-after': /^\d+$/ }, body: { error: { code: 'QUEUE_FULL' } } }
  t.match(await call('POST', '/screenshots', { url }, { 'idempotency-key': 'k1' }), refused)
  t.match(await call('POST', '/screenshots', { url, options: { webhook_url: 'https://hooks.example.com/' } }), refused)
  t.strictSame(written(), before)
})

t.test('POST /screenshots/batch queues all items or none', async (t) => {
  const { call, screenshots, archive, objects } = aBoundedGateway(3)
  const urls = ['a', 'b', 'c', 'd'].map((path) => url + path)
  const post = (count: number) => call('POST', BATCH, { urls: urls.slice(0, count) }, { 'idempotency-key': `batch-${count}` })
  t.match(await post(4), { status: 503, body: { error: { code: 'QUEUE_FULL' } } })
  t.strictSame([screenshots.objects.size, archive.bucket.objects.size, objects.objects.size], [0, 0, 0])
  t.equal((await post(3)).status, 202)
  t.equal((await post(2)).status, 503)
})

t.test('POST /screenshots repeated under its Idempotency-Key is answered as before when the queue is full by then', async (t) => {
  const { call } = aBoundedGateway(1)
  const post = () => call('POST', '/screenshots', { url }, { 'idempotency-key': 'again' })
  const first = await post()
  t.match(await post(), { status: 202, headers: { 'idempotent-replayed': 'true' }, body: { id: first.body.id } })
})

t.test('X-Queue-Position tells the place of what waits, and estimated_time stays as it was answered', async (t) => {
  let ticks = 0
  const { call, screenshots } = aGateway({ now: () => new Date(NOW.getTime() + ticks++) })
  screenshots.measure(3_000)
  const first = await call('POST', '/screenshots', { url })
  const second = await call('POST', '/screenshots', { url })
  t.match(first, { headers: { 'x-queue-position': '1' }, body: { estimated_time: '1-6s' } })
  t.match(second, { headers: { 'x-queue-position': '2' }, body: { estimated_time: '3-12s' } })
  screenshots.measure(600_000)
  const { id } = second.body
  const shown = { 'x-queue-position': '2', 'retry-after': '2' }
  t.match(await call('GET', `/screenshots/${id}`), { headers: shown, body: { estimated_time: '3-12s' } })
  screenshots.put({ ...screenshots.objects.get(id)!, status: completedStatus({}) })
  const done = await call('GET', `/screenshots/${id}`)
  t.match(done, { headers: { 'x-queue-position': undefined, 'retry-after': undefined }, body: { estimated_time: '3-12s' } })
})
