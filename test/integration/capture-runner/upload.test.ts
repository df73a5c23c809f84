// Uploads to a real storage, also one that is unavailable for a while.

import { randomBytes } from 'node:crypto'
import t from 'tap'
import { upload } from '../../../capture-runner/src/capture/upload.ts'
import { CaptureError } from '../../../capture-runner/src/runtime/errors.ts'
import { openBucket } from './stage/bucket.ts'

const bucket = await openBucket(t)
const picture = randomBytes(300_000)

/** Aborts like an attempt's deadline. */
function deadline(milliseconds: number): AbortSignal {
  const controller = new AbortController()
  setTimeout(() => controller.abort(new CaptureError('TIMEOUT', 'the capture did not end within its time')), milliseconds).unref()
  return controller.signal
}

t.test('upload stores the bytes with the signed headers and returns the ETag', async (t) => {
  const stored = await upload(picture, bucket.uploadOf('users/a/1.png'), deadline(30_000))
  const found = await bucket.read('users/a/1.png')
  t.ok(found?.bytes.equals(picture))
  t.match(found, { contentType: 'image/png', etag: stored.etag })
  t.equal(stored.fileSizeBytes, picture.length)
})

t.test('upload never overwrites a file of another attempt', async (t) => {
  const key = 'users/a/2.png'
  await upload(picture, bucket.uploadOf(key), deadline(30_000))
  await t.rejects(upload(randomBytes(10), bucket.uploadOf(key), deadline(30_000)), { code: 'STORAGE_FAILED', retryable: true })
  t.ok((await bucket.read(key))?.bytes.equals(picture))
})

t.test('upload rejects a file that is too large before sending it', async (t) => {
  await t.rejects(upload(picture, bucket.uploadOf('users/a/3.png', { maxBytes: 299_999 }), deadline(30_000)), { code: 'TOO_LARGE' })
  t.equal(await bucket.read('users/a/3.png'), undefined)
})

t.test('upload fails at once when its URL has expired or its headers differ from the signed ones', async (t) => {
  const order = bucket.uploadOf('users/a/4.png', { expiresSeconds: 1 })
  await new Promise((resolve) => setTimeout(resolve, 2_100))
  await t.rejects(upload(picture, order, deadline(30_000)), { code: 'STORAGE_FAILED' })
  const { 'if-none-match': _, ...without } = order.headers
  await t.rejects(upload(picture, { ...bucket.uploadOf('users/a/4.png'), headers: without }, deadline(30_000)), { code: 'STORAGE_FAILED' })
  t.equal(await bucket.read('users/a/4.png'), undefined)
})

t.test('upload waits for an unavailable storage', async (t) => {
  const order = bucket.uploadOf('users/a/5.png')
  const restarted = bucket.store.restart(4_000)
  await new Promise((resolve) => setTimeout(resolve, 500))
  const stored = await upload(picture, order, deadline(60_000))
  await restarted
  t.equal((await bucket.read('users/a/5.png'))?.etag, stored.etag)
})

t.test('upload tolerates a storage that hangs: an object stored by a lost attempt counts', async (t) => {
  const order = bucket.uploadOf('users/a/6.png')
  await bucket.store.freeze()
  setTimeout(() => void bucket.store.thaw(), 12_000)
  const stored = await upload(picture, order, deadline(60_000))
  const found = await bucket.read('users/a/6.png')
  t.ok(found?.bytes.equals(picture))
  t.equal(found?.etag, stored.etag)
})

t.test('upload gives up with the attempt, and reports the storage', async (t) => {
  const order = bucket.uploadOf('users/a/7.png')
  await bucket.store.freeze()
  await t.rejects(upload(picture, order, deadline(1_000)), { code: 'STORAGE_FAILED', retryable: true })
  await bucket.store.thaw()
})

t.test('upload ends at once when the capture is canceled', async (t) => {
  const canceled = new CaptureError('CANCELLED', 'the screenshot was deleted')
  const controller = new AbortController()
  await bucket.store.freeze()
  const uploading = upload(picture, bucket.uploadOf('users/a/8.png'), controller.signal)
  controller.abort(canceled)
  await t.rejects(uploading, canceled)
  await bucket.store.thaw()
})
