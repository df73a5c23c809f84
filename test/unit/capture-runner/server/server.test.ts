import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import { CompactEncrypt, importJWK } from 'jose'
import pino from 'pino'
import t, { type Test } from 'tap'
import { buildFailure } from '../../../../capture-runner/src/capture/outcome.ts'
import { CaptureError } from '../../../../capture-runner/src/runtime/errors.ts'
import { createOrderKeys } from '../../../../capture-runner/src/server/authentication.ts'
import { LivenessProbe } from '../../../../capture-runner/src/server/liveness-probe.ts'
import { buildReport } from '../../../../capture-runner/src/server/report.ts'
import { at, NOON } from '../../../support/fakes/builders.ts'

const order: CaptureOrder = {
  uid: 'u',
  name: 'scr-1',
  namespace: 'default',
  accountName: 'default',
  attempt: 1,
  url: 'https://example.com/',
  upload: { url: 'http://store/x', headers: { 'if-none-match': '*' }, maxBytes: 1 },
  deadline: 1,
}

type Keys = Awaited<ReturnType<typeof createOrderKeys>>

const seal = async (content: unknown, { publicKey }: Keys, header = { alg: 'ECDH-ES', enc: 'A256GCM' }) =>
  new CompactEncrypt(new TextEncoder().encode(JSON.stringify(content)))
    .setProtectedHeader(header)
    .encrypt(await importJWK(publicKey, 'ECDH-ES'))

t.test('open reads an order encrypted for its key', async (t) => {
  const keys = await createOrderKeys()
  t.strictSame(await keys.open(await seal(order, keys)), order)
})

t.test('open rejects a token for another key, an altered one, or a weaker algorithm', async (t) => {
  const [keys, others] = [await createOrderKeys(), await createOrderKeys()]
  const sealed = await seal(order, keys)
  await t.rejects(keys.open(await seal(order, others)))
  await t.rejects(keys.open(`${sealed.slice(0, -4)}AAAA`))
  await t.rejects(keys.open(JSON.stringify(order)))
  await t.rejects(keys.open(await seal(order, keys, { alg: 'ECDH-ES', enc: 'A128CBC-HS256' })))
})

t.test('open rejects an invalid order', async (t) => {
  const keys = await createOrderKeys()
  await t.rejects(keys.open(await seal({ ...order, attempt: 0 }, keys)))
  await t.rejects(keys.open(await seal({ ...order, options: { format: 'mov' } }, keys)))
})

t.test('open names the wrong fields of an order without quoting it', async (t) => {
  const keys = await createOrderKeys()
  const privateOptions = { headers: { hunter2: 'hunter2\n' }, hunter2: 'hunter2' }
  const message = 'invalid order; wrong fields: attempt, privateOptions'
  await t.rejects(keys.open(await seal({ ...order, attempt: 0, privateOptions }, keys)), { message })
  await t.rejects(keys.open(await seal('hunter2', keys)), { message: 'invalid order; wrong fields: (root)' })
})

t.test('createOrderKeys creates another key each time', async (t) => {
  const [one, other] = [await createOrderKeys(), await createOrderKeys()]
  t.not(one.publicKey.x, other.publicKey.x)
  t.match(one.publicKey, { kty: 'OKP', crv: 'X25519', x: /^[\w-]{43}$/ })
})

/** A liveness probe whose clock and screenshots the test controls. */
function stage(t: Test) {
  const clock = { now: 1_000 }
  const screenshots: PromiseWithResolvers<void>[] = []
  const takeScreenshot = () => {
    const next = Promise.withResolvers<void>()
    screenshots.push(next)
    return next.promise
  }
  const livenessProbe = new LivenessProbe({ takeScreenshot, now: () => clock.now, log: pino({ level: 'silent' }) })
  t.teardown(() => {
    for (const { resolve } of screenshots) resolve()
  })
  const settle = () => new Promise<void>((done) => setImmediate(done))
  return { clock, screenshots, livenessProbe, settle }
}

t.test('LivenessProbe passes until there was no screenshot for a minute', async (t) => {
  const { clock, livenessProbe } = stage(t)
  t.equal(livenessProbe.check(), true, 'a pod that starts has a minute')
  clock.now += 59_999
  t.equal(livenessProbe.check(), true)
  clock.now += 1
  t.equal(livenessProbe.check(), false)
})

t.test('LivenessProbe passes after each screenshot, its own or a capture’s', async (t) => {
  const { clock, screenshots, livenessProbe, settle } = stage(t)
  livenessProbe.check()
  clock.now += 70_000
  screenshots[0]?.resolve()
  await settle()
  t.equal(livenessProbe.check(), true)
  clock.now += 70_000
  livenessProbe.note()
  t.equal(livenessProbe.check(), true)
})

t.test('LivenessProbe takes one screenshot at a time, and the next after a failure', async (t) => {
  const { screenshots, livenessProbe, settle } = stage(t)
  livenessProbe.check()
  livenessProbe.check()
  t.equal(screenshots.length, 1)
  screenshots[0]?.reject(new Error('hung'))
  await settle()
  livenessProbe.check()
  t.equal(screenshots.length, 2)
})

t.test('buildReport tests the claim before it writes, and writes only its own fields', async (t) => {
  const outcome = buildFailure(new CaptureError('TIMEOUT', 'why'), { processingMilliseconds: 1, timings: {} }, NOON)
  const claim = { namespace: 'default', name: 'scr-1', attempt: 2, podUid: 'pod-uid' }
  const { contentType, body } = buildReport(claim, outcome, at(1))
  t.equal(contentType, 'application/json-patch+json')
  t.strictSame(body, [
    { op: 'test', path: '/status/runner/uid', value: 'pod-uid' },
    { op: 'test', path: '/status/attempt', value: 2 },
    { op: 'test', path: '/status/phase', value: 'Running' },
    { op: 'replace', path: '/status/phase', value: 'Failed' },
    { op: 'add', path: '/status/result', value: outcome.result },
    { op: 'add', path: '/status/conditions', value: outcome.conditions },
    { op: 'add', path: '/status/completionTime', value: at(1).toISOString() },
  ])
})
