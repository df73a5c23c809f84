// A runner from order to report, and its behavior when other services fail.

import { readFile } from 'node:fs/promises'
import { CompactEncrypt, generateKeyPair } from 'jose'
import t from 'tap'
import { mergePatch } from '../../../crds/client/patch.ts'
import { eventually } from '../../support/eventually.ts'
import { servePages } from './stage/page-server.ts'
import { decode, GREEN, isNear } from './stage/pixels.ts'
import { openService } from './stage/service.ts'

const green = '<!doctype html><title>Green</title><body style="margin:0;background:#0f0"></body>'
const site = await servePages({ '/green': green, '/never': () => {} })
t.teardown(() => site.close())
const service = await openService(t, { own: true })
const { screenshots, bucket, address } = service
const runner = await service.startRunner()
const post = (order: Parameters<typeof runner.client.post>[2]) => runner.client.post(address, runner.key, order)
const ask = ({ uid, attempt }: { uid: string; attempt: number }) =>
  runner.client.getCapture(address, uid, attempt).then(({ response }) => response)

t.test('a runner captures, stores and reports', async (t) => {
  const order = await service.claim(site.url('/green'), { options: { format: 'webp', viewportWidth: 200, viewportHeight: 100 } })
  t.strictSame(await post(order), { outcome: 'accepted' })
  const { status } = await service.finished(order)
  const stored = await bucket.read(service.keyOf(order))
  const pixels = await decode(stored?.bytes ?? Buffer.of())
  t.ok(isNear(pixels.at(100, 50), GREEN))
  t.match(status, {
    phase: 'Completed',
    result: {
      format: 'webp',
      width: 200,
      height: 100,
      httpStatus: 200,
      pageTitle: 'Green',
      finalUrl: site.url('/green'),
      etag: stored?.etag ?? '',
      fileSizeBytes: stored?.bytes.length ?? 0,
    },
    conditions: [
      { type: 'Succeeded', status: 'True', reason: 'Captured' },
      { type: 'Finished', status: 'True' },
    ],
  })
  for (const step of ['browser', 'navigate', 'settle', 'screenshot', 'upload']) t.type(status?.result?.timings?.[step], 'number', step)
  await eventually('it is done', async () => (await ask(order)) === 'done')
})

t.test('a runner stores the additional files and the metadata', async (t) => {
  const options = { format: 'avif', thumbnailWidth: 50, saveHtml: true, metadataLinks: true } as const
  const order = await service.claim(site.url('/green'), { options: { ...options, viewportWidth: 200, viewportHeight: 100 } })
  await post(order)
  const { status, metadata } = await service.finished(order)
  const prefix = `users/default/${metadata.name.replace('-', '_')}`
  const [picture, thumbnail, html] = await Promise.all(['avif', 'thumb.webp', 'html'].map((one) => bucket.read(`${prefix}.${one}`)))
  t.ok(isNear((await decode(picture?.bytes ?? Buffer.of())).at(100, 50), GREEN))
  t.match(await decode(thumbnail?.bytes ?? Buffer.of()), { width: 50, height: 25 })
  t.match(html?.bytes.toString(), '<title>Green</title>')
  t.match(status?.result, {
    format: 'avif',
    width: 200,
    page: { links: [] },
    artifacts: [
      { type: 'thumbnail', etag: thumbnail?.etag, fileSizeBytes: thumbnail?.bytes.length },
      { type: 'html', etag: html?.etag, fileSizeBytes: html?.bytes.length },
    ],
  })
})

t.test('a runner reports why a page cannot be captured', async (t) => {
  const order = await service.claim('http://no-such-name.invalid/')
  await post(order)
  const { status } = await service.finished(order)
  t.match(status, {
    phase: 'Failed',
    result: { error: { code: 'DNS_FAILED' } },
    conditions: [{ type: 'Succeeded', status: 'False', reason: 'DnsFailed' }, { type: 'Finished' }],
  })
  t.equal(await bucket.read(service.keyOf(order)), undefined)
})

t.test('a runner ends an attempt at its deadline, regardless of the options', async (t) => {
  const order = await service.claim(site.url('/never'), { milliseconds: 1_500 })
  await post(order)
  t.match((await service.finished(order)).status?.result?.error, { code: 'TIMEOUT' })
})

t.test('a runner accepts one capture at a time, and reports which', async (t) => {
  const [first, second] = [await service.claim(site.url('/never')), await service.claim(site.url('/green'))]
  t.strictSame(await post(first), { outcome: 'accepted' })
  t.strictSame(await post(first), { outcome: 'accepted' }, 'the same order again')
  t.match(await post(second), { outcome: 'busy', with: { uid: first.uid, attempt: 1, state: 'running' } })
  t.equal(await ask(first), 'running')
  t.equal(await ask(second), 'absent')
  await runner.client.cancel(address, first.uid)
  await eventually('the runner no longer knows the first order', async () => (await ask(first)) === 'absent')
  t.strictSame(await post(second), { outcome: 'accepted' }, 'the order that was rejected before')
  t.equal((await service.finished(second)).status?.phase, 'Completed')
  t.match((await screenshots.get(first.name)).status, { phase: 'Running', result: undefined }, 'a canceled capture is not reported')
  t.equal(await bucket.read(service.keyOf(first)), undefined)
})

t.test('a runner starts another capture while the upload of the last one is slow', async (t) => {
  const [first, second] = [await service.claim(site.url('/green')), await service.claim(site.url('/green'))]
  await bucket.store.freeze()
  t.teardown(() => bucket.store.thaw())
  t.equal((await post(first)).outcome, 'accepted')
  const response = await runner.client.getCapture(address, first.uid, first.attempt, { seconds: 30, until: 'taken' })
  t.strictSame(response, { response: 'running', isTaken: true })
  t.equal((await post(second)).outcome, 'accepted')
  await bucket.store.thaw()
  for (const order of [first, second]) t.match(await service.finished(order), { status: { phase: 'Completed' } })
})

t.test('a runner does not report when its claim is lost', async (t) => {
  const order = await service.claim(site.url('/green'), { options: { delay: 500 } })
  await post(order)
  await screenshots.patch(order.name, mergePatch({ status: { attempt: 2 } }), { subresource: 'status' })
  await eventually('the capture has ended', async () => (await ask(order)) === 'done')
  t.match((await screenshots.get(order.name)).status, { phase: 'Running', attempt: 2, result: undefined })
  t.match(runner.log(), /report dropped/)
})

t.test('a runner does not report a deleted Screenshot', async (t) => {
  const order = await service.claim(site.url('/green'), { options: { delay: 500 } })
  await post(order)
  await screenshots.delete(order.name)
  await eventually('the capture has ended', async () => (await ask(order)) === 'done')
  t.equal(await screenshots.find(order.name), undefined)
})

t.test('a runner gives up a retryable failure without a report, but reports it in the third attempt', async (t) => {
  for (const attempt of [1, 3]) {
    const order = await service.claim(site.url('/green'), { attempt })
    await post({ ...order, upload: bucket.uploadOf(service.keyOf(order), { expiresSeconds: 1 }), options: { delay: 2_500 } })
    if (attempt === 3) t.match((await service.finished(order)).status?.result?.error, { code: 'STORAGE_FAILED' })
    await eventually('the attempt has ended', async () => (await ask(order)) === (attempt === 3 ? 'done' : 'absent'))
    if (attempt === 1) t.match((await screenshots.get(order.name)).status, { phase: 'Running', result: undefined })
  }
})

t.test('a runner retries its report until the API server is back', async (t) => {
  const order = await service.claim(site.url('/green'), { options: { delay: 1_000 } })
  await post(order)
  await service.plane.restart(3_000)
  t.equal((await service.finished(order)).status?.phase, 'Completed')
})

t.test('a runner responds with 401 to requests without the operator’s signature, and to replays', async (t) => {
  const { headers } = {
    headers: { authorization: await service.sign({ podUid: address.uid, method: 'GET', path: '/identity' }, new Date()) },
  }
  t.equal((await fetch(`${runner.url}/identity`, { headers })).status, 200)
  t.equal((await fetch(`${runner.url}/identity`, { headers })).status, 401)
  for (const [method, path] of [
    ['GET', '/identity'],
    ['POST', '/captures'],
    ['GET', '/captures/x'],
    ['DELETE', '/captures/x'],
    ['GET', '/metrics'],
  ] as const) {
    t.equal((await fetch(`${runner.url}${path}`, { method, ...(method === 'POST' ? { body: 'x' } : {}) })).status, 401, `${method} ${path}`)
  }
})

t.test('a runner responds with 400 to a signed order encrypted for another key', async (t) => {
  const order = await service.claim(site.url('/green'))
  const stranger = await generateKeyPair('ECDH-ES', { crv: 'X25519' })
  const encrypt = new CompactEncrypt(new TextEncoder().encode(JSON.stringify(order))).setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM' })
  const body = await encrypt.encrypt(stranger.publicKey)
  const authorization = await service.sign({ podUid: address.uid, method: 'POST', path: '/captures', body, jti: 'x/1' }, new Date())
  t.equal((await fetch(`${runner.url}/captures`, { method: 'POST', headers: { authorization }, body })).status, 400)
  t.equal(await ask(order), 'absent')
})

t.test('a runner responds only to probes without a signature', async (t) => {
  t.equal((await fetch(`${runner.url}/healthz`)).status, 200)
  t.equal((await fetch(`${runner.url}/readyz`)).status, 200)
})

t.test('a runner’s identity contains the current token on disk', async (t) => {
  const identity = await runner.client.identity(address)
  t.equal(identity.token, await readFile(`${service.plane.directory}/token`, 'utf8'))
  t.match(identity.sandbox, { jail: false, chromiumSandbox: false, detail: 'switched off' })
})

t.test('a runner that shuts down finishes its captures, and accepts no more', async (t) => {
  const leaving = await service.startRunner()
  const order = await service.claim(site.url('/green'), { options: { delay: 1_500 } })
  t.strictSame(await leaving.client.post(address, leaving.key, order), { outcome: 'accepted' })
  const ended = leaving.stop()
  await eventually('the runner is not ready', async () => (await fetch(`${leaving.url}/readyz`)).status === 503)
  t.match(await leaving.client.post(address, leaving.key, await service.claim(site.url('/green'))), { outcome: 'busy' })
  t.equal(await ended, 0)
  t.equal((await service.finished(order)).status?.phase, 'Completed')
})

t.test('a runner that shuts down gives up slow captures without a report', async (t) => {
  const leaving = await service.startRunner({ TINTYPE_SHUTDOWN_GRACE_MILLISECONDS: '500' })
  const order = await service.claim(site.url('/never'))
  await leaving.client.post(address, leaving.key, order)
  t.equal(await leaving.stop(), 0)
  t.match((await screenshots.get(order.name)).status, { phase: 'Running', result: undefined })
})

t.test('a runner logs no URL, no query and no token', async (t) => {
  const log = runner.log()
  t.match(log, /capture finished/)
  t.notMatch(log, /X-Amz-Signature|no-such-name|Bearer|eyJ/)
})
