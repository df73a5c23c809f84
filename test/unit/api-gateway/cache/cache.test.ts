import t from 'tap'
import { cacheHash, type PictureRequest } from '../../../../api-gateway/src/cache/cache-hash.ts'
import { findPicture } from '../../../../api-gateway/src/cache/find-picture.ts'
import { buildMetrics } from '../../../../api-gateway/src/metrics/metrics.ts'
import { splitOptions } from '../../../../api-gateway/src/resources/screenshots/options/options-body.ts'
import { exampleOf, optionsByName } from '../../../../crds/src/options/groups.ts'
import { cacheEntryKey, objectKey } from '../../../../crds/src/records/storage-keys.ts'
import { toSnakeCase } from '../../../../crds/src/text/words.ts'
import { anObjectStore, FakeFiles, NOW, SCREENSHOT_ID } from '../fakes.ts'

const ring = { current: 'a', keys: { a: Buffer.from('secret').toString('base64') } }
const hash = (more: Partial<PictureRequest> = {}) => cacheHash({ account: 'acme', url: 'https://example.com/', ...more }, ring)

const same: [string, Partial<PictureRequest>, Partial<PictureRequest>][] = [
  ['a default that is written', {}, { options: { format: 'png', delay: 0 } }],
  ['the order of options', { options: { delay: 1, fullPage: true } }, { options: { fullPage: true, delay: 1 } }],
  ['how long it may take', {}, { options: { timeout: 5_000, jobTimeout: 60_000, captureTimeout: 2_000, retries: 3, retryDelay: 5 } }],
]
for (const [name, one, other] of same) {
  t.test(`cacheHash is the same whatever ${name}`, async (t) => t.equal(hash(one), hash(other)))
}

const different: [string, Partial<PictureRequest>][] = [
  ['the account', { account: 'other' }],
  ['the address', { url: 'https://example.com/#a' }],
  ['the time that decides a best attempt', { options: { bestAttempt: true, timeout: 5_000 } }],
  ['the time that decides when the network counts as idle', { options: { waitUntil: ['networkidle'], timeout: 5_000 } }],
]
t.test('cacheHash tells apart what a picture depends on', async (t) => {
  const plain = [{}, { bestAttempt: true }, { waitUntil: ['networkidle' as const] }]
  const hashes = new Set([...plain.map((options) => hash({ options })), ...different.map(([, more]) => hash(more))])
  t.equal(hashes.size, different.length + plain.length)
})

t.test('cacheHash is keyed by the release’s secret', async (t) => {
  const other = { current: 'a', keys: { a: Buffer.from('another').toString('base64') } }
  t.not(cacheHash({ account: 'acme', url: 'https://example.com/' }, other), hash())
  t.throws(() => cacheHash({ account: 'acme', url: 'https://example.com/' }, { current: 'b', keys: {} }), /no key b/)
})

/** The hash of a request with one option of the API. */
function hashWith(name: string): string {
  const { capture, cache, private: privateOptions } = splitOptions({ [toSnakeCase(name)]: exampleOf(name) })
  const { cacheKey } = cache as { cacheKey?: string }
  return hash({ options: capture, privateOptions, cacheKey })
}

t.test('every option changes the cache hash exactly if it says that it changes the picture', async (t) => {
  const isChanged = ([name]: [string, unknown]): boolean => hashWith(name) !== hash()
  const says = [...optionsByName].filter(([, { facts }]) => ['yes', 'separate'].includes(String(facts.picture)))
  t.strictSame(
    [...optionsByName].filter(isChanged).map(([name]) => name),
    says.map(([name]) => name),
  )
  const hashes = new Set(says.map(([name]) => hashWith(name)))
  t.equal(hashes.size, says.length, 'each of them has a hash of its own')
})

const NO_MARGINS = { pdfMarginTop: '0', pdfMarginRight: '0', pdfMarginBottom: '0', pdfMarginLeft: '0' }

t.test('cache entries of earlier versions keep their hashes', async (t) => {
  const known: [string, Partial<PictureRequest>][] = [
    ['75a48162b149fe21a9ff60351da1a342f63a1ff25b091bc24bfbe4795d424fd7', {}],
    // The hashes of all requests while these were the defaults.
    ['704d8e39891ac81a42558e6b03bd7e1a03765f3770e1eb63cf61e42081354e55', { options: { httpCache: 'off' } }],
    ['0183be7f76e5ec42ffb5286e6cf4bb632c145a9bfa3c1ac9045faf7b0d9a71af', { options: { ...NO_MARGINS, httpCache: 'off' } }],
    ['47f0c8700e92bb0bb33bfd5212ca979d263888db7f1c0652ae7934da5a660c09', { options: { fullPage: true } }],
    ['75a48162b149fe21a9ff60351da1a342f63a1ff25b091bc24bfbe4795d424fd7', { options: { timeout: 60_000 } }],
    ['446cdb2424f1c5315f291a7360a77dd190ee53a28b9c1a7acc80fb07c99b3b2e', { options: { bestAttempt: true, timeout: 60_000 } }],
    ['c02498ae747306f89f50b7986a95007e2b54ea848bccb5739d9df104f48bb1b7', { options: { storageRegion: 'eu-central-1' } }],
    ['1bcd1663783db9746068dc369e0b4abf0b15110951f2a11f922b80bc284a4d91', { privateOptions: { authorization: 'Bearer 7f3a' } }],
  ]
  for (const [expected, request] of known) t.equal(hash(request), expected, JSON.stringify(request))
})

const request = { account: 'acme', url: 'https://example.com/' }

/** A bucket in which the request has a picture of some seconds ago. */
async function aBucket(ageSeconds: number) {
  const metrics = buildMetrics()
  const deps = {
    objects: anObjectStore(),
    files: new FakeFiles(),
    keyRing: () => ({ current: 'a', keys: { a: 'c2VjcmV0' } }),
    now: () => NOW,
    metrics,
    report: () => {},
  }
  const { cacheAs: hash = '' } = await findPicture(request, { cache: true }, deps)
  const completedAt = new Date(NOW.getTime() - ageSeconds * 1_000).toISOString()
  const entry = { version: 1, id: SCREENSHOT_ID, completedAt, result: { format: 'png', etag: 'abc' } }
  await deps.objects.write(cacheEntryKey('acme', hash), JSON.stringify(entry))
  deps.files.objects.set(objectKey('acme', SCREENSHOT_ID, 'png'), Buffer.from('a'))
  return { deps, hash, key: cacheEntryKey('acme', hash), entry }
}

t.test(
  'findPicture gives nothing for a request without cache, and the hash to keep the picture under for one that finds none',
  async (t) => {
    const { deps } = await aBucket(1)
    t.strictSame(await findPicture(request, undefined, deps), {})
    t.strictSame(await findPicture(request, { cache: false }, deps), {})
    t.match(await findPicture({ ...request, url: 'https://example.com/other' }, { cache: true }, deps), { cacheAs: /^[0-9a-f]{64}$/ })
  },
)

t.test('findPicture finds a picture that is young enough', async (t) => {
  const { deps, hash } = await aBucket(86_400)
  t.strictSame(await findPicture(request, { cache: true }, deps), { cachedFrom: hash })
  t.strictSame(await findPicture(request, { cache: true, cacheTtl: 86_399 }, deps), { cacheAs: hash })
  t.strictSame(await findPicture(request, { cache: true, cacheRefresh: true }, deps), { cacheAs: hash })
  const { values } = await deps.metrics.cacheLookUps.get()
  t.strictSame(Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value])), { miss: 2, hit: 1, refresh: 1 })
})

t.test('findPicture finds none whose file has gone or is another, nor by an entry that it cannot read', async (t) => {
  const { deps, hash, key, entry } = await aBucket(1)
  await deps.objects.write(key, JSON.stringify({ ...entry, result: { ...entry.result, etag: 'other' } }))
  t.strictSame(await findPicture(request, { cache: true }, deps), { cacheAs: hash })
  for (const text of ['', '{', JSON.stringify({ ...entry, id: '../x' }), JSON.stringify({ ...entry, version: 2 })]) {
    await deps.objects.write(key, text)
    t.strictSame(await findPicture(request, { cache: true }, deps), { cacheAs: hash }, text)
  }
  await deps.objects.write(key, JSON.stringify({ ...entry, keptUntil: NOW.toISOString() }))
  t.strictSame(await findPicture(request, { cache: true }, deps), { cacheAs: hash }, 'its request wanted it gone by now')
  await deps.objects.write(key, JSON.stringify(entry))
  t.strictSame(await findPicture(request, { cache: true }, deps), { cachedFrom: hash }, 'the control')
  deps.files.objects.clear()
  t.strictSame(await findPicture(request, { cache: true }, deps), { cacheAs: hash })
})
