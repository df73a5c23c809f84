import t from 'tap'
import { findPicture } from '../../../../api-gateway/src/cache/find-picture.ts'
import { buildMetrics } from '../../../../api-gateway/src/metrics/metrics.ts'
import { cacheEntryKey, objectKey } from '../../../../crds/src/records/storage-keys.ts'
import { FakeObjects } from '../fake-stores.ts'
import { FakeFiles, NOW, SCREENSHOT_ID } from '../fakes.ts'

const request = { account: 'acme', url: 'https://example.com/' }

/** A bucket in which the request has a picture of some seconds ago. */
async function aBucket(ageSeconds: number) {
  const metrics = buildMetrics()
  const deps = {
    objects: new FakeObjects(),
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
