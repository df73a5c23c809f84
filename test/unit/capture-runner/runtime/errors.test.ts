import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { type Content, hashOf, sizeOfContent, streamOf } from '../../../../capture-runner/src/runtime/content.ts'
import { CaptureError, refusalOf, toCaptureError } from '../../../../capture-runner/src/runtime/errors.ts'
import { abortable, awaitResponse, bounded, pause } from '../../../../capture-runner/src/runtime/race.ts'
import { trustAuthorities } from '../../../../capture-runner/src/runtime/trust.ts'
import { stopClock } from '../../../support/fakes/stop-clock.ts'

t.test('CaptureError derives from its code whether another attempt may succeed', async (t) => {
  t.equal(new CaptureError('TIMEOUT', 'late').retryable, false)
  t.equal(new CaptureError('STORAGE_FAILED', 'away').retryable, true)
})

t.test('toCaptureError separates the client’s message from the cause', async (t) => {
  const own = new CaptureError('TIMEOUT', 'late')
  t.equal(toCaptureError(own), own)
  const bug = new TypeError('/app/main.mjs: x is not a function')
  const reported = toCaptureError(bug)
  t.match(reported, { code: 'INTERNAL_ERROR', retryable: true, cause: bug })
  t.notMatch(reported.message, /main/)
})

const lost = (type: string) =>
  Object.assign(new Error('Protocol error (Emulation.setTimezoneOverride): Internal server error, session closed.'), { type })
const errors: [error: unknown, refusal: string | undefined][] = [
  [new Error('Protocol error (Emulation.setLocaleOverride): Invalid locale name'), 'Invalid locale name'],
  [new Error('Protocol error (Fetch.continueRequest): Unsafe header: TE'), 'Unsafe header: TE'],
  [new Error('Protocol error (Fetch.continueRequest): Invalid InterceptionId.'), undefined],
  [new Error('Protocol error (Emulation.setVirtualTimePolicy): initialVirtualTime must be set first'), undefined],
  [new Error('Protocol error (Target.createTarget): Failed to open a new tab'), undefined],
  [lost('closed'), undefined],
  [lost('crashed'), undefined],
  [new TypeError('x is not a function'), undefined],
  [new CaptureError('TIMEOUT', 'Protocol error (Emulation.setLocaleOverride): late'), undefined],
  ['Protocol error (Emulation.setLocaleOverride): a text', undefined],
]
t.test('refusalOf tells a browser that refuses an option from one that is lost', async (t) => {
  for (const [error, refusal] of errors) t.equal(refusalOf(error), refusal, String(error))
  t.match(toCaptureError(errors[0]?.[0], { name: 'navigate', code: 'NAVIGATION_FAILED' }), { code: 'INVALID_OPTIONS', retryable: false })
})

const bytes = Buffer.from('the bytes of a file')
const file = join(t.testdir(), 'video.mp4')
writeFileSync(file, bytes)

for (const [where, content] of [
  ['in memory', bytes],
  ['on disk', { file, bytes: bytes.length }],
] as [string, Content][]) {
  t.test(`content ${where} has its size, its bytes, more than once, and its hash`, async (t) => {
    const { signal } = new AbortController()
    t.equal(sizeOfContent(content), 19)
    for (const _ of [1, 2]) t.strictSame(await buffer(streamOf(content)), bytes)
    t.equal(await hashOf(content, 'md5', signal), 'f201023c128c77f8d2186ba8cfce4d1b')
    t.equal(await hashOf(content, 'sha256', signal), '0f599b9451f725bfe1eb79476b36417380d4c36212d2644b43685e53d70ceb2e')
  })
}

t.test('hashOf fails for a file that is gone', async (t) => {
  await t.rejects(hashOf({ file: join(t.testdirName, 'none'), bytes: 1 }, 'md5', new AbortController().signal), { code: 'ENOENT' })
})

const never = new Promise<never>(() => {})

t.test('abortable returns the promise’s result if it comes first', async (t) => {
  t.equal(await abortable(Promise.resolve(1), new AbortController().signal), 1)
  await t.rejects(abortable(Promise.reject(new Error('own')), new AbortController().signal), { message: 'own' })
})

t.test('abortable throws the reason of a signal that aborts, before or during the wait', async (t) => {
  const reason = new Error('over')
  await t.rejects(abortable(never, AbortSignal.abort(reason)), reason)
  const controller = new AbortController()
  const waiting = abortable(never, controller.signal)
  controller.abort(reason)
  await t.rejects(waiting, reason)
})

t.test('abortable ignores a promise that rejects after the abort', async (t) => {
  const { promise, reject } = Promise.withResolvers<never>()
  await t.rejects(abortable(promise, AbortSignal.abort(new Error('over'))), { message: 'over' })
  reject(new Error('unheard'))
  await new Promise((resolve) => setImmediate(resolve))
  t.pass('no unhandled rejection ended the process')
})

t.test('bounded aborts with its parent, or by itself, or not at all once disposed', async (t) => {
  const clock = stopClock(t)
  const parent = new AbortController()
  const own = bounded(parent.signal, 100, () => new Error('late'))
  const other = bounded(parent.signal, 1_000, () => new Error('later'))
  const disposed = bounded(new AbortController().signal, 100, () => new Error('never'))
  disposed[Symbol.dispose]()
  clock.tick(100)
  t.match([own.signal.reason, other.signal.aborted, disposed.signal.aborted], [{ message: 'late' }, false, false])
  parent.abort(new Error('parent'))
  t.match(other.signal.reason, { message: 'parent' })
  other[Symbol.dispose]()
})

t.test('awaitResponse fails with TIMEOUT for a page that does not respond', async (t) => {
  const clock = stopClock(t)
  const waiting = awaitResponse(never, new AbortController().signal)
  clock.tick(30_000)
  await t.rejects(waiting, { code: 'TIMEOUT' })
})

t.test('pause ends by itself or with the signal’s reason', async (t) => {
  await pause(1, new AbortController().signal)
  const reason = new Error('over')
  await t.rejects(pause(60_000, AbortSignal.abort(reason)), reason)
})

t.test('trustAuthorities rejects a bundle without a certificate, and names its field', async (t) => {
  for (const bundle of ['nonsense', '-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----'])
    await t.rejects(trustAuthorities(bundle, t.testdir()), { message: 'spec.egress.extraCaBundle holds no PEM certificate' })
})
