// A runner that records videos, from order to report, with a real store and a real API server.

import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { probeMovie } from './stage/movie.ts'
import { servePages } from './stage/page-server.ts'
import { decode, GREEN, isNear } from './stage/pixels.ts'
import { openService } from './stage/service.ts'

const green = '<!doctype html><title>Green</title><body style="margin:0;background:#0f0"><h1>Green</h1></body>'
const site = await servePages({ '/green': green })
t.teardown(() => site.close())
const service = await openService(t)
const { bucket, address } = service
const VIDEO = { format: 'webm', viewportWidth: 200, viewportHeight: 100, videoDuration: 1, videoFps: 10 } as const

t.test('a runner records, stores and reports a video with its poster, and removes its files', async (t) => {
  const directory = t.testdir({ 'video-left': { 'video.mp4': 'of a runner that was killed' } })
  const runner = await service.startRunner({ TINTYPE_VIDEO: 'true', TINTYPE_VIDEO_DIRECTORY: directory })
  t.strictSame((await runner.client.identity(address)).video, { available: true, detail: '' })
  t.strictSame(await readdir(directory), [], 'files of before are removed')
  const order = await service.claim(site.url('/green'), { options: { ...VIDEO, videoPoster: true, metadataContentHash: true } })
  await runner.client.post(address, runner.key, order)
  const { status, metadata } = await service.finished(order)
  const stored = await bucket.read(service.keyOf(order))
  const file = join(t.testdirName, 'stored.webm')
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
  await runner.client.post(address, runner.key, still)
  t.match((await service.finished(still)).status, { phase: 'Completed', result: { format: 'png' } }, 'it still takes screenshots')
  t.ok((await fetch(`${runner.url}/healthz`)).ok)
  t.equal(await runner.stop(), 0)
})

t.test('a runner that was not started for videos, or has no ffmpeg, reports it', async (t) => {
  for (const [env, video, message] of [
    [{}, undefined, /^the pool of this capture does not record videos/],
    [
      { TINTYPE_VIDEO: 'true', TINTYPE_VIDEO_DIRECTORY: t.testdir(), TINTYPE_FFMPEG: '/none/ffmpeg' },
      { available: false, detail: /^ffmpeg does not run/ },
      /^the runner cannot record videos: ffmpeg does not run/,
    ],
  ] as const) {
    const runner = await service.startRunner(env)
    t.match((await runner.client.identity(address)).video, video)
    const order = await service.claim(site.url('/green'), { options: VIDEO })
    await runner.client.post(address, runner.key, order)
    t.match((await service.finished(order)).status, { phase: 'Failed', result: { error: { code: 'VIDEO_UNAVAILABLE', message } } })
    t.equal(await runner.stop(), 0)
  }
})
