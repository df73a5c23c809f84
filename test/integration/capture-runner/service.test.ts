import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PrivateOptions } from '@tintype/crds/options/private'
import { CompactEncrypt, generateKeyPair } from 'jose'
import t from 'tap'
import { mergePatch } from '../../../crds/client/resource.ts'
import { eventually } from '../../support/eventually.ts'
import { probeMovie } from './stage/movie.ts'
import { servePages } from './stage/page-server.ts'
import { decode, GREEN, isNear } from './stage/pixels.ts'
import { openService } from './stage/service.ts'

// A runner as a process, from order to report, and its behavior when other services fail. Runners of other settings are at the end: for secrets, for
// videos.

const green = '<!doctype html><title>Green</title><body style="margin:0;background:#0f0"></body>'
/** Credentials of the requests. */
const received: string[] = []
const site = await servePages({
  '/green': green,
  '/never': () => {},
  '/in': ({ headers }, response) => {
    received.push(`${headers.authorization} ${headers.cookie} ${headers['x-key']}`)
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>In</title><p style="background:#0f0">x')
  },
  '/basic': ({ headers }, response) => {
    received.push(`${headers.authorization}`)
    response
      .writeHead(headers.authorization ? 200 : 401, { 'www-authenticate': 'Basic realm="x"', 'content-type': 'text/html' })
      .end('<p>x')
  },
  '/hang-up': (request) => void request.socket.destroy(),
})
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

// They must reach the page, but no output of the runner.
const SECRET = 'Zq7planted7Secret'
const all: PrivateOptions = {
  authorization: `Bearer ${SECRET}`,
  headers: { 'X-Key': SECRET },
  cookies: [
    { name: 'sid', value: SECRET },
    { name: '__Http-bad', value: SECRET },
  ],
}
const basic: PrivateOptions = { basicAuthUsername: 'u', basicAuthPassword: SECRET }

const directory = t.testdir({ 'video-left': { 'video.mp4': 'of a runner that was killed' } })
/** Records videos, and logs all that it can. */
let verbose: typeof runner

t.test('a runner at its most verbose log level uses private options without revealing them', async (t) => {
  const video = { TINTYPE_VIDEO: 'true', TINTYPE_VIDEO_DIRECTORY: directory }
  verbose = await service.startRunner({ TINTYPE_LOG_LEVEL: 'trace', DEBUG: 'pw:error', ...video })
  const send = async (path: string, privateOptions: PrivateOptions) => {
    const order = { ...(await service.claim(site.url(path))), privateOptions }
    return { order, ...(await verbose.client.post(address, verbose.key, order)) }
  }
  const statusOf = async (path: string, privateOptions: PrivateOptions) =>
    (await service.finished((await send(path, privateOptions)).order)).status
  t.match(await statusOf('/in', all), {
    phase: 'Completed',
    result: { pageTitle: 'In', warnings: [/did not keep .* cookies\[1\] \(__Http-bad\)$/] },
  })
  t.strictSame(received, [`Bearer ${SECRET} sid=${SECRET} ${SECRET}`], 'control: the page received all of it')
  t.match(await statusOf('/basic', basic), { phase: 'Completed', result: { httpStatus: 200 } })
  t.match(await statusOf('/hang-up', { ...all, ...basic }), { phase: 'Failed' })
  const { outcome } = await send('/in', { ...all, [SECRET]: 1 } as never)
  t.equal(outcome, 'refused', 'an order with an unknown field')
  await eventually('three captures are logged', async () => verbose.log().split('capture finished').length === 4)
  const places = { objects: JSON.stringify(await screenshots.listAll()), log: verbose.log() }
  for (const [place, text] of Object.entries(places))
    for (const spelling of [SECRET, Buffer.from(`u:${SECRET}`).toString('base64')])
      t.notOk(text.includes(spelling), `${place} holds no ${spelling}`)
})

const VIDEO = { format: 'webm', viewportWidth: 200, viewportHeight: 100, videoDuration: 1, videoFps: 10 } as const

t.test('a runner records, stores and reports a video with its poster, and removes its files', async (t) => {
  t.strictSame((await verbose.client.identity(address)).video, { available: true, detail: '' })
  t.strictSame(await readdir(directory), [], 'files of before are removed')
  const order = await service.claim(site.url('/green'), { options: { ...VIDEO, videoPoster: true, metadataContentHash: true } })
  await verbose.client.post(address, verbose.key, order)
  const { status, metadata } = await service.finished(order)
  const stored = await bucket.read(service.keyOf(order))
  const file = join(directory, 'stored.webm')
  await writeFile(file, stored?.bytes ?? '')
  t.match(await probeMovie(file), { codec: 'vp9', width: 200, height: 100, frames: 10, seconds: 1 })
  const poster = await bucket.read(`users/default/${metadata.name.replace('-', '_')}.poster.jpeg`)
  t.ok(isNear((await decode(poster?.bytes ?? Buffer.of())).at(150, 80), GREEN))
  t.match(status, {
    phase: 'Completed',
    result: {
      format: 'webm',
      width: 200,
      height: 100,
      durationMilliseconds: 1_000,
      fps: 10,
      frames: 10,
      pageTitle: 'Green',
      etag: stored?.etag ?? '',
      fileSizeBytes: stored?.bytes.length ?? 0,
      artifacts: [{ type: 'poster', etag: poster?.etag }],
    },
  })
  for (const step of ['record', 'upload']) t.type(status?.result?.timings?.[step], 'number', step)
  await eventually('its files are removed', async () => (await readdir(directory)).join() === 'stored.webm')

  const still = await service.claim(site.url('/green'), { options: { viewportWidth: 200, viewportHeight: 100 } })
  await verbose.client.post(address, verbose.key, still)
  t.match((await service.finished(still)).status, { phase: 'Completed', result: { format: 'png' } }, 'it still takes screenshots')
  t.ok((await fetch(`${verbose.url}/healthz`)).ok)
  t.equal(await verbose.stop(), 0)
})

t.test('a runner that was not started for videos, or has no ffmpeg, reports it', async (t) => {
  const without = await service.startRunner({ TINTYPE_VIDEO: 'true', TINTYPE_VIDEO_DIRECTORY: t.testdir(), TINTYPE_FFMPEG: '/none/ffmpeg' })
  for (const [each, video, message] of [
    [runner, undefined, /^the pool of this capture does not record videos/],
    [without, { available: false, detail: /^ffmpeg does not run/ }, /^the runner cannot record videos: ffmpeg does not run/],
  ] as const) {
    t.match((await each.client.identity(address)).video, video)
    const order = await service.claim(site.url('/green'), { options: VIDEO })
    await each.client.post(address, each.key, order)
    t.match((await service.finished(order)).status, { phase: 'Failed', result: { error: { code: 'VIDEO_UNAVAILABLE', message } } })
    t.equal(await each.stop(), 0)
  }
})
