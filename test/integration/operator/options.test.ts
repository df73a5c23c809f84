import t, { type Test } from 'tap'
import { storeBatchOptions, storeOptions } from '../../../api-gateway/src/options/store-options.ts'
import { openBucket } from '../../../api-gateway/src/store/bucket.ts'
import { type Secret, screenshots, secrets } from '../../../crds/client/kinds.ts'
import { type NewObject, Resource } from '../../../crds/client/resource.ts'
import { newOpeningKey, type SealedFor, seal, toSealingKey } from '../../../crds/src/crypto/sealed.ts'
import type { Screenshot, ScreenshotSpec } from '../../../crds/src/kinds/screenshot.ts'
import { MAX_SEALED_BYTES } from '../../../crds/src/options/private.ts'
import { optionsKey } from '../../../crds/src/records/storage-keys.ts'
import { JUNK, sumIgnored, toShort } from '../../support/attack/junk.ts'
import { newName, startStage } from './stage.ts'

// Private and large options from the gateway's code to the runner's order, with a real API server and a real store, and Screenshots that
// contain options of another account. The admission policy rejects those at creation, so here the gateway's account creates them.

const stage = await startStage(t, { environment: { TINTYPE_OPTION_POLICY: '{"bypassCsp":false}' } })
const { node, minio, ignored } = stage
const operator = await stage.lead()
await stage.setPool({ minIdle: 1, maxPods: 1 })
await stage.whenIdle(1)
const { http } = await stage.release.asPod('tintype-api-gateway', 'gateway-1')
const shots = new Resource(http, screenshots)
const objects = openBucket(minio.access())
const root = minio.connect()
const sealingKey = toSealingKey(stage.openingKey)
const deps = { sealingKey: () => sealingKey, objects }
const url = 'https://example.com/'
const privateOptions = { authorization: 'Bearer s3cret', cookies: [{ name: 'sid', value: 's3cret' }] }

const create = (name: string, spec: Partial<ScreenshotSpec>): Promise<Screenshot> =>
  shots.create({ metadata: { name }, spec: { url, accountName: 'acme', ...spec } })
const orderOf = ({ metadata }: Screenshot) => node.orders.find(({ order }) => order.name === metadata.name)?.order

/** It failed permanently at the first attempt, without revealing content, and its runner keeps working. */
async function isRefused(t: Test, spec: Partial<ScreenshotSpec>, message: RegExp): Promise<void> {
  const done = await stage.whenFinished(await create(newName(), spec))
  t.match(done.status, { phase: 'Failed', attempt: 1, result: { error: { code: 'INVALID_OPTIONS', message } } })
  t.match(done.status?.conditions, [{ reason: 'InvalidOptions' }, { type: 'Finished', status: 'True' }])
  t.notMatch(JSON.stringify(done), 's3cret')
  t.equal(orderOf(done), undefined, 'no runner received it')
}

t.test('the operator passes sealed options to the runner, and the object never shows them', async (t) => {
  const name = newName()
  const sealed = await storeOptions({ privateOptions, account: 'acme', subject: name, url }, deps)
  const shot = await create(name, { options: { delay: 1 }, ...sealed })
  const done = await stage.whenFinished(shot)
  t.match(done.status, { phase: 'Completed', attempt: 1 })
  t.match(orderOf(shot), { options: { delay: 1 }, privateOptions })
  t.notMatch(JSON.stringify(done), 's3cret')
  t.strictSame(done.spec.hiddenOptions, ['authorization', 'cookies'])
})

t.test('the operator reads large options from the bucket, one object per batch', async (t) => {
  const styles = '/* s3cret */'.repeat(20_000)
  const owners = [newName(), newName()].map((name) => ({ name, url }))
  const stored = await storeBatchOptions({ options: { styles, delay: 1 }, account: 'acme', subject: 'batch_1', owners }, deps)
  const made = await Promise.all(owners.map(({ name }, index) => create(name, { ...stored[index], batchId: 'batch_1' })))
  for (const shot of made) {
    t.match((await stage.whenFinished(shot)).status, { phase: 'Completed' })
    t.strictSame(orderOf(shot)?.options, { delay: 1, styles })
  }
})

t.test('the operator reads private options from a Secret of their type only', async (t) => {
  const store = new Resource<Secret>(stage.release.admin, secrets)
  const data = { 'options.json': Buffer.from(JSON.stringify(privateOptions)).toString('base64') }
  await store.create({ metadata: { name: 'sign-in' }, type: 'tintype.dev/private-options', data })
  await store.create({ metadata: { name: 'opaque' }, type: 'Opaque', data })
  const shot = await stage.create({ privateOptionsSecretRef: { name: 'sign-in' } })
  t.match((await stage.whenFinished(shot)).status, { phase: 'Completed' })
  t.strictSame(orderOf(shot)?.privateOptions, privateOptions)
  await isRefused(t, { privateOptionsSecretRef: { name: 'opaque' } }, /no Secret opaque of type tintype.dev\/private-options exists/)
  await isRefused(t, { privateOptionsSecretRef: { name: 'tintype-sealing-key' } }, /no Secret/)
  await isRefused(t, { privateOptionsSecretRef: { name: 'missing' } }, /no Secret/)
})

t.test('the operator retries when the store is unavailable, and does not fail the Screenshot', async (t) => {
  const name = newName()
  const stored = await storeOptions({ options: { styles: 'x'.repeat(9000) }, account: 'acme', subject: name, url }, deps)
  await minio.stop()
  const shot = await create(name, stored)
  await stage.when(shot, 'is claimed', ({ status }) => status?.phase === 'Running')
  t.notMatch((await stage.shots.get(name)).status, { phase: 'Failed' })
  await minio.restart()
  t.match((await stage.whenFinished(shot)).status, { phase: 'Completed' })
})

t.test('Screenshots with 300 KB and 1.2 MB of html, which the caches leave out, reach their runners whole', async (t) => {
  const kubectl = new Resource(stage.release.admin, screenshots)
  for (const size of [300_000, 1_200_000]) {
    const html = `<!doctype html><p>${'ü'.repeat(size / 2)}`
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'x'.repeat(100_000) }
    const hideSelectors = Array.from({ length: 30 }, (_, n) => `#a${n}${'x'.repeat(400)}`)
    const spec = { url, accountName: 'acme', options: { html, hideSelectors, delay: 1 } }
    const metadata = { name: `large-${size}`, annotations }
    const done = await stage.whenFinished(await kubectl.create({ metadata, spec } as NewObject<Screenshot>))
    t.match(done.status, { phase: 'Completed', attempt: 1 })
    t.strictSame(orderOf(done)?.options, { html, hideSelectors, delay: 1 })
    const cached = operator.reflectors.screenshots.lister.get(`${done.metadata.namespace}/${metadata.name}`)
    t.strictSame(cached?.spec.options, { delay: 1 }, 'the cache leaves them out, also of what the operator has written')
    t.ok(JSON.stringify(cached).length < 8_192, 'nor has the cached object their texts elsewhere')
    const stored = await kubectl.get(metadata.name)
    t.strictSame(stored.spec, spec, 'no write changes the object')
    t.match(stored.metadata.annotations, annotations)
  }
  const tooLate = await kubectl.create({
    metadata: { name: 'large-policy' },
    spec: { url, accountName: 'acme', options: { html: 'x'.repeat(9_000), bypassCsp: true } },
  } as NewObject<Screenshot>)
  t.match((await stage.whenFinished(tooLate)).status?.result?.error, { code: 'OPTION_NOT_ALLOWED' })
})

// Arbitrary objects under options/ of the bucket, written with the store's own key: the capture fails once, with a code, and the operator continues.

const sealTo = (subject: string, text: string, sealedFor: Partial<SealedFor> = {}, key = sealingKey) =>
  seal(text, { purpose: 'large-options', subject, account: 'acme', ...sealedFor }, key)
const OPTIONS = JSON.stringify({ options: { styles: 's3cret' } })
const NESTED = '['.repeat(100_000) + ']'.repeat(100_000)

/** Objects by their defect; each is created for the Screenshot at whose key it is stored. */
const cases: { what: string; reason?: string; make: (name: string) => Promise<string | Buffer> | string | Buffer }[] = [
  ...JUNK.map((junk) => ({ what: `junk ${toShort(junk)}`, reason: junk.length > MAX_SEALED_BYTES ? 'size' : 'content', make: () => junk })),
  { what: 'invalid parts of a sealed text', make: () => 'AAAA..AAAA.AAAA.AAAA' },
  { what: 'a header that is other JSON', make: () => `${Buffer.from('7').toString('base64url')}..AAAA.AAAA.AAAA` },
  { what: 'another account’s options', make: (name) => sealTo(name, OPTIONS, { account: 'other' }) },
  { what: 'another Screenshot’s options', make: () => sealTo(newName(), OPTIONS) },
  { what: 'a batch’s options', make: () => sealTo('batch_1', OPTIONS) },
  { what: 'options sealed for a field', make: (name) => sealTo(name, OPTIONS, { purpose: 'options', url }) },
  { what: 'a signing secret', make: (name) => sealTo(name, 's3cret', { purpose: 'signing-secret' }) },
  { what: 'options sealed to another key', make: (name) => sealTo(name, OPTIONS, {}, toSealingKey(newOpeningKey('k1'))) },
  { what: 'sealed text that is not JSON', make: (name) => sealTo(name, 'not JSON') },
  { what: 'sealed options that do not exist', make: (name) => sealTo(name, '{"options":{"nothing":1},"x":2}') },
  { what: 'sealed options of a reserved name', make: (name) => sealTo(name, '{"options":{"__proto__":{"delay":1}}}') },
  { what: 'sealed nested lists', make: (name) => sealTo(name, NESTED) },
  { what: 'sealed options with nested lists', make: (name) => sealTo(name, `{"options":{"styles":${NESTED}}}`) },
]

for (const { what, reason = 'content', make } of cases) {
  t.test(`a capture whose options object contains ${what} fails once, and nothing is deleted`, async (t) => {
    const name = newName()
    const key = optionsKey('acme', name)
    const content = Buffer.from(await make(name))
    await root.putObject('tintype', key, content)
    const shot = await create(name, { optionsObject: key })
    const done = await stage.whenFinished(shot)
    t.match(done.status, { phase: 'Failed', attempt: 1, result: { error: { code: 'INVALID_OPTIONS', message: String } } })
    t.notMatch(JSON.stringify(done), 's3cret')
    t.equal(orderOf(shot), undefined, 'no runner receives an order')
    t.strictSame(
      ignored.filter((each) => JSON.stringify(each).includes(key)),
      [{ key, kind: 'options', reason }],
      'it is logged once',
    )
    t.strictSame((await root.statObject('tintype', key)).size, content.length, 'it is unchanged')
  })
}

t.test('ignored objects under options/ are counted, and the runner captures the next page with large options', async (t) => {
  const metrics = await operator.metrics.registry.metrics()
  for (const reason of ['size', 'content']) {
    const count = cases.filter((each) => (each.reason ?? 'content') === reason).length
    t.ok(sumIgnored(metrics, 'options', reason) >= count, reason)
  }
  const name = newName()
  const options = { styles: '/* long */'.repeat(1_000) }
  const stored = await storeOptions({ options, account: 'acme', subject: name, url }, deps)
  const done = await stage.whenFinished(await create(name, stored))
  t.match(done.status, { phase: 'Completed', attempt: 1 })
  t.strictSame(orderOf(done)?.options, options)
})
