// Storing the picture in a real store, also one that is away for a while.

import { randomBytes } from 'node:crypto'
import t from 'tap'
import { upload } from '../../../capture-runner/src/capture/upload.ts'
import { CaptureError } from '../../../capture-runner/src/runtime/errors.ts'
import { openBucket } from './stage/bucket.ts'

const bucket = await openBucket(t)
const picture = randomBytes(300_000)

/** Ends as an attempt's deadline does. */
function deadline(milliseconds: number): AbortSignal {
  const controller = new AbortController()
  setTimeout(() => controller.abort(new CaptureError('TIMEOUT', 'the capture did not end within its time')), milliseconds).unref()
  return controller.signal
}

t.test('upload stores the bytes under the signed headers and knows the tag that the store gave them', async (t) => {
  const stored = await upload(picture, bucket.uploadOf('users/a/1.png'), deadline(30_000))
  const found = await bucket.read('users/a/1.png')
  t.ok(found?.bytes.equals(picture))
  t.match(found, { contentType: 'image/png', etag: stored.etag })
  t.equal(stored.fileSizeBytes, picture.length)
})

t.test('upload never writes over a file: another attempt was here', async (t) => {
  const key = 'users/a/2.png'
  await upload(picture, bucket.uploadOf(key), deadline(30_000))
  await t.rejects(upload(randomBytes(10), bucket.uploadOf(key), deadline(30_000)), { code: 'STORAGE_FAILED', retryable: true })
  t.ok((await bucket.read(key))?.bytes.equals(picture))
})

t.test('upload refuses a file that is larger than it may be, before it is sent', async (t) => {
  await t.rejects(upload(picture, bucket.uploadOf('users/a/3.png', { maxBytes: 299_999 }), deadline(30_000)), { code: 'TOO_LARGE' })
  t.equal(await bucket.read('users/a/3.png'), undefined)
})

t.test('upload fails at once when its address has expired or its headers are not the signed ones', async (t) => {
  const order = bucket.uploadOf('users/a/4.png', { expiresSeconds: 1 })
  await new Promise((resolve) => setTimeout(resolve, 2_100))
  await t.rejects(upload(picture, order, deadline(30_000)), { code: 'STORAGE_FAILED' })
  const { 'if-none-match': _, ...without } = order.headers
  await t.rejects(upload(picture, { ...bucket.uploadOf('users/a/4.png'), headers: without }, deadline(30_000)), { code: 'STORAGE_FAILED' })
  t.equal(await bucket.read('users/a/4.png'), undefined)
})

t.test('upload waits for a store that is away', async (t) => {
  const order = bucket.uploadOf('users/a/5.png')
  const restarted = bucket.store.restart(4_000)
  await new Promise((resolve) => setTimeout(resolve, 500))
  const stored = await upload(picture, order, deadline(60_000))
  await restarted
  t.equal((await bucket.read('users/a/5.png'))?.etag, stored.etag)
})

t.test('upload bears a store that hangs and answers late: what was stored by a lost try counts', async (t) => {
  const order = bucket.uploadOf('users/a/6.png')
  await bucket.store.freeze()
  setTimeout(() => void bucket.store.thaw(), 12_000)
  const stored = await upload(picture, order, deadline(60_000))
  const found = await bucket.read('users/a/6.png')
  t.ok(found?.bytes.equals(picture))
  t.equal(found?.etag, stored.etag)
})

t.test('upload gives up with the attempt, and blames the store', async (t) => {
  const order = bucket.uploadOf('users/a/7.png')
  await bucket.store.freeze()
  await t.rejects(upload(picture, order, deadline(1_000)), { code: 'STORAGE_FAILED', retryable: true })
  await bucket.store.thaw()
})

t.test('upload ends at once when the capture is cancelled', async (t) => {
  const cancelled = new CaptureError('CANCELLED', 'the screenshot was deleted')
  const controller = new AbortController()
  await bucket.store.freeze()
  const uploading = upload(picture, bucket.uploadOf('users/a/8.png'), controller.signal)
  controller.abort(cancelled)
  await t.rejects(uploading, cancelled)
  await bucket.store.thaw()
})
