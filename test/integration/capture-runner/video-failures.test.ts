// Videos that fail, and the reported errors. After each of them no ffmpeg is left, and the next capture succeeds.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path, { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import t, { type Test } from 'tap'
import { landlockWrapper, mountWrapper } from '../../../capture-runner/src/jail/wrapper.ts'
import { CaptureError } from '../../../capture-runner/src/runtime/errors.ts'
import { argumentsOf, listProcesses } from '../../../capture-runner/src/runtime/processes.ts'
import { createEncoder } from '../../../capture-runner/src/video/encoder.ts'
import { Ffmpeg, probeFfmpeg } from '../../../capture-runner/src/video/ffmpeg.ts'
import { assertEvery } from '../../support/accepts.ts'
import { eventually } from '../../support/eventually.ts'
import { decodeMovie } from './stage/movie.ts'
import { servePages } from './stage/page-server.ts'
import { decode, GREEN, isNear } from './stage/pixels.ts'
import { ownRenderers } from './stage/renderers.ts'
import { openStudio } from './stage/studio.ts'

const green = (rest = '') => `<!doctype html><title>Green</title><body style="margin:0;background:#0f0">${rest}</body>`

/** Random pixels in every frame, which no codec can compress. */
const noise = green(`<canvas width=320 height=240></canvas><script>
  const context = document.querySelector('canvas').getContext('2d')
  const draw = () => {
    const image = context.createImageData(320, 240)
    for (let at = 0; at < image.data.length; at++) image.data[at] = at % 4 === 3 ? 255 : Math.random() * 255
    context.putImageData(image, 0, 0)
    requestAnimationFrame(draw)
  }
  draw()
</script>`)

const site = await servePages({
  '/green': green('<h1>Green</h1>'),
  '/noise': noise,
  // The timer comes after the wait for fonts and images, so it runs in the recording.
  '/hangs': green('<script>setTimeout(() => { for (;;) {} }, 1500)</script>'),
  '/messages': green(
    '<script>const { port1, port2 } = new MessageChannel(); port1.onmessage = () => port2.postMessage(0); port2.postMessage(0)</script>',
  ),
  '/alerts': green('<script>setInterval(() => alert("stop"), 100)</script>'),
  '/leaves': green('<script>setTimeout(() => { location.href = "/green" }, 1500)</script>'),
  '/stream': (request, response) => {
    if (request.url?.includes('events')) return void response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: x\n\n')
    response.writeHead(200, { 'content-type': 'text/html' }).end(green('<script>new EventSource("/stream?events")</script>'))
  },
  '/hung-frame': green(
    '<style>i { position: absolute; width: 10px; height: 10px; background: #000 }</style><i></i><iframe srcdoc="<p>inner"></iframe>',
  ),
  '/worker': green('<script>new Worker(URL.createObjectURL(new Blob(["setInterval(() => postMessage(0), 20)"])))</script>'),
})
const studio = await openStudio({ video: true })
t.teardown(async () => {
  await studio.close()
  await site.close()
})

const SMALL = { viewportWidth: 320, viewportHeight: 240, format: 'mp4', videoFps: 10, videoDuration: 2 } as const satisfies CaptureOptions

const encoders = (): number[] =>
  listProcesses()
    .filter(({ parent }) => parent === process.pid)
    .map(({ pid }) => pid)
    .filter((pid) => argumentsOf(pid).some((word) => word.endsWith('ffmpeg')))

/** Processor time of a process so far. */
function ticksOf(pid: number): number {
  const [, , , , , , , , , , , user = '0', system = '0'] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? []
  return Number(user) + Number(system)
}

/** The renderer that works hardest during a second: the one that draws the noise. The others are of tabs that wait for the next capture. */
async function findBusiestRenderer(): Promise<number> {
  const renderers = ownRenderers()
  const before = new Map(renderers.map((pid) => [pid, ticksOf(pid)]))
  await pause(1_000)
  const busy = renderers.filter((pid) => listProcesses().some((found) => found.pid === pid))
  const workOf = (pid: number) => ticksOf(pid) - (before.get(pid) ?? 0)
  return busy.toSorted((one, other) => workOf(other) - workOf(one))[0] ?? 0
}

async function recovers(t: Test): Promise<void> {
  await eventually('no ffmpeg is left', async () => encoders().length === 0)
  const { video } = await studio.shoot(site.url('/green'), { ...SMALL, videoDuration: 1 })
  t.equal((await decodeMovie(video?.file ?? '')).count, 10, 'the next video has all frames')
  const { picture } = await studio.shoot(site.url('/green'))
  t.ok(isNear((await decode(picture)).at(500, 500), GREEN, 0), 'the next screenshot succeeds')
}

t.test('a video of a page with an endless script fails with TIMEOUT', async (t) => {
  const error = await studio.shootInVain(site.url('/hangs'), { ...SMALL, captureTimeout: 3_000 })
  t.equal(error.code, 'TIMEOUT', error.message)
  t.match(error.message, /^\d+ of 20 frames were recorded within 3000 ms\. Lower video_duration/)
  await recovers(t)
})

t.test('a video that takes longer than the capture fails with its reason', async (t) => {
  const late = new AbortController()
  const reason = new CaptureError('TIMEOUT', 'the capture did not end within its time')
  const recording = studio.shootInVain(site.url('/noise'), { ...SMALL, videoDuration: 60 }, { signal: late.signal })
  await eventually('ffmpeg runs', async () => encoders().length === 1)
  late.abort(reason)
  t.equal(await recording, reason)
  await recovers(t)
})

t.test('a video of a page that crashes fails with PAGE_CRASHED', async (t) => {
  const recording = studio.shootInVain(site.url('/noise'), { ...SMALL, videoDuration: 60 }, { account: 'crash' })
  await eventually('ffmpeg runs', async () => encoders().length === 1)
  process.kill(await findBusiestRenderer(), 'SIGKILL')
  const error = await recording
  t.equal(error.code, 'PAGE_CRASHED', error.message)
  await recovers(t)
})

t.test('a video whose encoder is killed fails with INTERNAL_ERROR', async (t) => {
  const recording = studio.shootInVain(site.url('/noise'), { ...SMALL, videoDuration: 60 })
  await eventually('ffmpeg runs', async () => encoders().length === 1)
  process.kill(encoders()[0] ?? 0, 'SIGKILL')
  const error = await recording
  t.match(error, { code: 'INTERNAL_ERROR', message: 'the video could not be encoded', retryable: true })
  await recovers(t)
})

t.test('a video above its limit fails with TOO_LARGE', async (t) => {
  for (const format of ['mp4', 'gif'] as const) {
    const error = await studio.shootInVain(site.url('/noise'), { ...SMALL, format }, { maxBytes: 100_000 })
    t.equal(error.code, 'TOO_LARGE', error.message)
    t.match(error.message, /more than 100000 bytes.* Lower video_duration/)
  }
  await recovers(t)
})

const asRoot = process.getuid?.() === 0
t.test('a video on a full disk fails with INTERNAL_ERROR', { skip: asRoot ? false : 'only root can mount a small disk' }, async (t) => {
  const disk = mkdtempSync(join(tmpdir(), 'tintype-small-disk-'))
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=200k', 'tmpfs', disk])
  t.teardown(() => {
    spawnSync('umount', [disk])
    rmSync(disk, { recursive: true, force: true })
  })
  const small = await openStudio({ video: { directory: disk } })
  t.teardown(() => small.close())
  for (const format of ['mp4', 'gif'] as const) {
    const error = await small.shootInVain(site.url('/noise'), { ...SMALL, format })
    t.match(error, { code: 'INTERNAL_ERROR', message: 'the runner has no space left for the video', retryable: true })
    for (const file of readdirSync(disk)) rmSync(join(disk, file))
  }
})

t.test('a page that floods its own queue, shows dialogs or navigates is recorded', async (t) => {
  for (const path of ['/messages', '/alerts', '/leaves']) {
    const { video, findings } = await studio.shoot(site.url(path), SMALL)
    t.equal((await decodeMovie(video?.file ?? '')).count, 20, path)
    assertEvery(t, findings.warnings, (warning) => warning.startsWith('network'), path)
  }
})

t.test('a video has warnings about what the page’s time does not decide', async (t) => {
  const warningsOf = async (path: string, options: CaptureOptions = SMALL) =>
    (await studio.shoot(site.url(path), options)).findings.warnings
  t.match(await warningsOf('/stream'), [/^network: the page exchanged data/])
  t.match(await warningsOf('/worker'), [/^workers: the page uses workers/])
  t.strictSame(await warningsOf('/green'), [])
  t.strictSame(await warningsOf('/worker', { ...SMALL, videoTiming: 'real', videoFps: 5 }), [])
})

/** A token as in a pod, in a directory of its own. */
const programsDirectory = path.resolve(import.meta.dirname, '../../../capture-runner/jail')
const secretFiles = [join(mkdtempSync(join(tmpdir(), 'tintype-token-')), 'token')]
writeFileSync(secretFiles[0] as string, 'secret')
const secrets = { programsDirectory, secretFiles }
t.teardown(() => rmSync(path.dirname(secretFiles[0] as string), { recursive: true }))

t.test('ffmpeg cannot read the token of the pod', async (t) => {
  const directory = t.testdir({ frame: 'any' })
  const { command } = await probeFfmpeg('ffmpeg', directory, secrets)
  const wrappers = [command?.wrapper, landlockWrapper(secrets), mountWrapper(secrets), undefined]
  for (const [at, wrapper] of wrappers.entries()) {
    const read = (file: string) =>
      new Ffmpeg({ program: 'cat', isUnshared: false, ...(wrapper ? { wrapper } : {}) }, [file], directory, {
        fileBytes: 1,
        cpuSeconds: 10,
      }).end(AbortSignal.timeout(60_000))
    await t.resolves(read('frame'), `${at}: its own files`)
    if (wrapper)
      for (const file of secretFiles) await t.rejects(read(file), { cause: { message: /token: (Permission denied|No such file)/ } })
    else await t.resolves(read(secretFiles[0] as string), 'control: without a wrapper it can')
  }
  t.ok(command?.wrapper, 'the runner starts it with one')
})

t.test('ffmpeg has no network, where the node allows that, and reads no URL', async (t) => {
  const directory = t.testdir()
  const { command } = await probeFfmpeg('ffmpeg', directory, secrets)
  if (!command) throw new Error('ffmpeg does not run')
  const signal = AbortSignal.timeout(60_000)
  const requests = site.requests.length
  for (const args of [
    ['-i', site.url('/green'), 'out.mp4'],
    ['-protocol_whitelist', 'file,pipe', '-i', site.url('/green'), 'out.mp4'],
  ].slice(command.isUnshared ? 0 : 1)) {
    const ffmpeg = new Ffmpeg(command, args, directory, { fileBytes: 1_000_000, cpuSeconds: 10 })
    await t.rejects(ffmpeg.end(signal), { code: 'INTERNAL_ERROR' })
  }
  t.equal(site.requests.length, requests, 'no request arrived')
})

t.test('probeFfmpeg says why ffmpeg does not run', async (t) => {
  t.match(await probeFfmpeg('/none/ffmpeg', t.testdir(), secrets), { detail: /ffmpeg does not run/ })
  t.match(await probeFfmpeg('true', t.testdir(), secrets), { detail: /lacks these encoders: libx264, libvpx-vp9, gif/ })
})

t.test('an encoder refuses more processor time than its frames can need', async (t) => {
  const directory = t.testdir()
  const ffmpeg = new Ffmpeg({ program: 'sh', isUnshared: false }, ['-c', 'while :; do :; done'], directory, { fileBytes: 1, cpuSeconds: 1 })
  await t.rejects(ffmpeg.end(AbortSignal.timeout(60_000)), { code: 'TOO_LARGE', message: /more than 1 s of processor time/ })
  const size = { width: 16, height: 16 }
  const encoding = { format: 'mp4', fps: 10, quality: 70, source: size, size } as const
  const encoder = createEncoder(encoding, 1, { command: { program: 'ffmpeg', isUnshared: false }, directory, maxBytes: 1_000_000 })
  await encoder.add(Buffer.from('no jpeg'), AbortSignal.timeout(60_000))
  await t.rejects(encoder.finish(AbortSignal.timeout(60_000)), { code: 'INTERNAL_ERROR' })
})
