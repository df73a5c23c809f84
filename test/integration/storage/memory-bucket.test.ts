// The rules of a store that tests of controllers rest on: on a real store, and on the bucket in memory that stands for it.

import { text } from 'node:stream/consumers'
import t from 'tap'
import { openBucket } from '../../../api-gateway/src/store/bucket.ts'
import { isTooLarge } from '../../../crds/storage/port.ts'
import { openEventStore } from '../../../operator/src/controllers/delivery/events/recorded-events.ts'
import { openStorage } from '../../../operator/src/storage/storage.ts'
import { MemoryBucket } from '../../support/fakes/memory-bucket.ts'
import { openTestStore } from '../../support/servers/test-store.ts'

const real = await openTestStore(t)
const access = real.access()
const memory = new MemoryBucket()
await openStorage(access).ensureBucket()

for (const [store, storage, gateway] of [
  ['a real store', openStorage(access), openBucket(access)],
  ['the bucket in memory', memory.storage, memory.store],
] as const) {
  t.test(`${store} lists keys in order, after a key, in pages, and by folders`, async (t) => {
    for (const key of ['a/2/x', 'a/1', 'b', 'a/2/y', 'a/10', 'a-']) await storage.write(`list/${key}`, key)
    t.strictSame(await storage.list('list/a/'), ['list/a/1', 'list/a/10', 'list/a/2/x', 'list/a/2/y'])
    t.strictSame(await storage.list('list/a/', { after: 'list/a/1', limit: 2 }), ['list/a/10', 'list/a/2/x'])
    t.strictSame(await storage.list('list/', { folders: true }), ['list/a-', 'list/b', 'list/a/'], 'folders come last')
    t.strictSame(
      (await storage.listObjects('list/a/', { limit: 1 })).map(({ key }) => key),
      ['list/a/1'],
    )
    await storage.removePrefix('list/a/')
    await storage.remove(['list/b', 'list/none'])
    t.strictSame(await storage.list('list/'), ['list/a-'])
  })

  t.test(`${store} writes on conditions, and gives the same ETag to the same text`, async (t) => {
    const etag = await gateway.write('etags/a', 'one', { ifAbsent: true })
    t.match(etag, /^[0-9a-f]{32}$/)
    t.equal(await gateway.write('etags/a', 'two', { ifAbsent: true }), undefined)
    t.equal(await gateway.write('etags/a', 'two', { ifMatch: 'another' }), undefined)
    t.strictSame(await gateway.read('etags/a', 10), { text: 'one', etag })
    t.ok(await gateway.write('etags/a', 'two', { ifMatch: etag ?? '' }))
    t.equal(await gateway.write('etags/b', 'one'), etag)
  })

  t.test(`${store} copies an object only with the ETag that it has`, async (t) => {
    await storage.write('copies/from', 'picture')
    const etag = (await gateway.read('copies/from', 10))?.etag ?? ''
    t.equal(await storage.copy({ from: 'copies/from', etag: 'another', to: 'copies/to' }), undefined)
    t.equal(await storage.copy({ from: 'copies/none', etag, to: 'copies/to' }), undefined)
    t.equal(await storage.exists('copies/to'), false)
    t.equal(await storage.copy({ from: 'copies/from', etag, to: 'copies/to' }), etag)
    t.equal(await storage.readText('copies/to', 10), 'picture')
  })

  t.test(`${store} reads nothing where nothing is, and not more than the limit`, async (t) => {
    await storage.write('reads/ä', 'ü'.repeat(5))
    t.equal(await storage.readText('reads/ä', 10), 'ü'.repeat(5))
    t.ok(isTooLarge(await storage.readText('reads/ä', 9).catch((error: unknown) => error)))
    t.ok(isTooLarge(await gateway.read('reads/ä', 9).catch((error: unknown) => error)))
    t.equal(await storage.readText('reads/none', 10), undefined)
    t.equal(await gateway.read('reads/none', 10), undefined)
    t.strictSame([await storage.exists('reads/ä'), await storage.exists('reads/none')], [true, false])
  })
}

t.test('a stream contains the requested bytes', async (t) => {
  const bucket = openBucket(access)
  const etag = await bucket.write('users/a', '0123456789')
  t.match(await bucket.stat('users/a'), { sizeBytes: 10, etag })
  t.strictSame([await bucket.stat('users/none'), await bucket.open('users/none')], [undefined, undefined])
  t.equal(await text((await bucket.open('users/a'))!), '0123456789')
  t.equal(await text((await bucket.open('users/a', { start: 2, end: 4 }))!), '234')
})

t.test('every call to a store that hangs ends at the timeout', async (t) => {
  const hurried = openStorage(access, { timeoutMilliseconds: 300 })
  const events = openEventStore(access)
  await events.put('events/evt_1.json', '{"name":"ü"}')
  t.equal(await hurried.readText('events/evt_1.json', 99), '{"name":"ü"}')
  await real.freeze()
  const calls: Promise<unknown>[] = [
    hurried.readText('records/a', 10),
    hurried.exists('records/a'),
    hurried.write('records/a', 'x'),
    hurried.list('records/'),
    hurried.listObjects('records/'),
    hurried.remove(['records/a']),
    hurried.removePrefix('records/'),
    hurried.copy({ from: 'records/a', etag: 'e', to: 'records/b' }),
    hurried.ensureBucket(),
    events.put('events/evt_2.json', '{}'),
  ]
  for (const call of await Promise.allSettled(calls)) t.match(call, { status: 'rejected', reason: { name: 'RetryableError' } })
  await real.thaw()
})

t.test('an unavailable store is SERVICE_UNAVAILABLE for the gateway and retryable for the operator', async (t) => {
  const away = { ...access, endpoint: 'http://127.0.0.1:9' }
  await t.rejects(openBucket(away).read('records/a', 10), { code: 'SERVICE_UNAVAILABLE' })
  await t.rejects(openBucket(away).open('records/a'), { code: 'SERVICE_UNAVAILABLE' })
  await t.rejects(openStorage(away).list('records/'), { name: 'RetryableError' })
  await t.rejects(openBucket({ ...access, bucket: 'another' }).check(), { code: 'SERVICE_UNAVAILABLE' })
})

t.test('a list of a real store contains the time of storing of each object, page by page', async (t) => {
  const storage = openStorage(access)
  const before = Date.now()
  for (const key of ['records/b/1', 'records/b/2', 'records/b/3']) await storage.write(key, 'x')
  const first = await storage.listObjects('records/b/', { limit: 2 })
  const rest = await storage.listObjects('records/b/', { after: 'records/b/2' })
  t.strictSame(
    [...first, ...rest].map(({ key }) => key),
    ['records/b/1', 'records/b/2', 'records/b/3'],
  )
  // HTTP and S3 dates may have whole seconds only.
  for (const { lastModified } of [...first, ...rest])
    t.ok(lastModified.getTime() >= before - 1_000 && lastModified.getTime() <= Date.now() + 1_000)
})

for (const skewMilliseconds of [-90_000, 90_000]) {
  t.test(`the operator lists and reads its objects with a clock ${skewMilliseconds / 1_000} s from the store’s`, async (t) => {
    const skewed = openStorage(access, { now: () => new Date(Date.now() + skewMilliseconds) })
    await skewed.write('records/c/1', 'text')
    t.equal(await skewed.exists('records/c/1'), true)
    t.equal(await skewed.exists('records/c/2'), false)
    t.equal(await skewed.readText('records/c/1', 10), 'text')
  })
}
