import { text } from 'node:stream/consumers'
import t from 'tap'
import { openBucket } from '../../../api-gateway/src/store/bucket.ts'
import { isTooLarge } from '../../../crds/storage/port.ts'
import { openStorage } from '../../../operator/src/storage/storage.ts'
import { openTestStore } from '../../support/servers/test-store.ts'

const store = await openTestStore(t)
const access = store.access()
const bucket = openBucket(access)
const storage = openStorage(access)
await storage.ensureBucket()

t.test('reading an object that is too large fails with its own error and reads no more than the limit', async (t) => {
  await storage.write('records/long', 'x'.repeat(11))
  for (const read of [() => bucket.read('records/long', 10), () => storage.readText('records/long', 10)]) {
    const error = await read().then(
      () => undefined,
      (error: unknown) => error,
    )
    t.ok(isTooLarge(error))
    t.match(error, { cause: {} })
  }
  t.equal(await storage.readText('records/long', 11), 'x'.repeat(11))
})

t.test('reads return undefined for a missing object, and writes for a failed precondition', async (t) => {
  t.equal(await bucket.stat('records/none'), undefined)
  t.equal(await bucket.read('records/none', 10), undefined)
  t.equal(await bucket.open('records/none'), undefined)
  t.equal(await storage.exists('records/none'), false)
  t.equal(await storage.copy({ from: 'records/none', etag: 'e', to: 'records/other' }), undefined)
  t.equal(await bucket.write('records/none', 'x', { ifMatch: 'e' }), undefined)
  const etag = await bucket.write('records/once', '{"a":1}', { ifAbsent: true })
  t.equal(await bucket.write('records/once', '{"a":2}', { ifAbsent: true }), undefined)
  t.match(await bucket.read('records/once', 10), { text: '{"a":1}', etag })
  t.match(await bucket.stat('records/once'), { sizeBytes: 7, etag })
  t.ok(await bucket.write('records/once', '{"a":3}', { ifMatch: etag! }))
})

t.test('a stream contains the requested bytes', async (t) => {
  await storage.write('users/a', '0123456789')
  t.equal(await text((await bucket.open('users/a'))!), '0123456789')
  t.equal(await text((await bucket.open('users/a', { start: 2, end: 4 }))!), '234')
})

t.test('every call to a store that hangs ends at the timeout', async (t) => {
  const hurried = openStorage(access, { timeoutMilliseconds: 300 })
  await store.freeze()
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
  ]
  for (const call of await Promise.allSettled(calls)) t.match(call, { status: 'rejected', reason: { name: 'RetryableError' } })
  await store.thaw()
})

t.test('an unavailable store is SERVICE_UNAVAILABLE for the gateway and retryable for the operator', async (t) => {
  const away = { ...access, endpoint: 'http://127.0.0.1:9' }
  await t.rejects(openBucket(away).read('records/a', 10), { code: 'SERVICE_UNAVAILABLE' })
  await t.rejects(openBucket(away).open('records/a'), { code: 'SERVICE_UNAVAILABLE' })
  await t.rejects(openStorage(away).list('records/'), { name: 'RetryableError' })
  await t.rejects(openBucket({ ...access, bucket: 'another' }).check(), { code: 'SERVICE_UNAVAILABLE' })
})
