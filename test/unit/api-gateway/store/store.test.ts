import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import t, { type Test } from 'tap'
import type { z } from 'zod'
import { notFound } from '../../../../api-gateway/src/common/errors.ts'
import { toApiError } from '../../../../api-gateway/src/store/kube-records.ts'
import { MountedJson } from '../../../../api-gateway/src/store/mounted-json.ts'
import { Turns } from '../../../../api-gateway/src/store/turns.ts'
import { KubeError } from '../../../../crds/client/kube-error.ts'
import { silentLog } from '../../../../crds/client/log.ts'
import { newOpeningKey, SealingKey, toSealingKey } from '../../../../crds/src/crypto/sealed.ts'
import { KeyRing } from '../../../../crds/src/crypto/signatures.ts'

const refusal = (status: number, details?: unknown) => new KubeError({ status, reason: 'Whatever', message: 'secret words', details })

for (const status of [0, 429, 500, 503]) {
  t.test(`toApiError takes ${status} of the API server for a passing trouble`, async (t) => {
    const error = toApiError(refusal(status)) as Error
    t.match(error, { code: 'SERVICE_UNAVAILABLE' })
    t.notMatch(error.message, 'secret words')
    t.ok(error.cause)
  })
}

for (const status of [401, 403]) {
  t.test(`a creation does not return 500 when an API server that has just started returns ${status}`, async (t) => {
    t.match(toApiError(refusal(status)), { code: 'SERVICE_UNAVAILABLE' })
  })
}

t.test('toApiError names the fields that the API server refuses, in the words of the wire', async (t) => {
  const causes = [{ field: 'spec.options.imageQuality', message: 'internal' }, { field: 'metadata.name' }]
  t.match(toApiError(refusal(422, { causes })), { code: 'VALIDATION_ERROR', details: [{ path: 'options.image_quality', code: 'refused' }] })
  t.match(toApiError(refusal(422)), { code: 'VALIDATION_ERROR', details: [{ path: '' }] })
})

t.test('toApiError leaves bugs and its own errors as they are', async (t) => {
  for (const error of [refusal(404), new TypeError('x'), notFound('screenshot')]) t.equal(toApiError(error), error)
})

const ring = { current: 'a', keys: { a: randomBytes(32).toString('base64') } }

/** A file that exists if it has a text. */
function aSource<T>(t: Test, schema: z.ZodType<T>, text?: string) {
  const file = path.join(t.testdir(text === undefined ? {} : { 'keys.json': text }), 'keys.json')
  const logged: string[] = []
  const log = { ...silentLog, warn: (fields: object, message: string) => void logged.push(JSON.stringify(fields) + message) }
  const source = new MountedJson({ path: file, schema, what: 'keys', notLoadedMessage: 'retry in a minute', log })
  t.teardown(() => source.stop())
  return { file, source, logged }
}

t.test('MountedJson starts without the file, and reads it when it appears', async (t) => {
  const { file, source } = aSource(t, KeyRing)
  await source.start()
  t.equal(source.isLoaded, false)
  t.throws(() => source.current(), { code: 'SERVICE_UNAVAILABLE', message: 'retry in a minute' })
  await writeFile(file, JSON.stringify(ring))
  while (!source.isLoaded) await new Promise((resolve) => setTimeout(resolve, 50))
  t.strictSame(source.current(), ring)
})

t.test('MountedJson fails before it has read a valid file, and never logs its content', async (t) => {
  const { source, logged } = aSource(t, KeyRing, '{"current": "topsecret"')
  await source.start()
  t.throws(() => source.current(), { code: 'SERVICE_UNAVAILABLE' })
  t.equal(logged.length, 1)
  t.notMatch(logged.join(), 'topsecret')
})

t.test('MountedJson keeps only the public key of any valid file', async (t) => {
  const key = newOpeningKey('k1')
  const { source } = aSource(t, SealingKey, JSON.stringify(key))
  await source.start()
  t.strictSame(source.current(), toSealingKey(key))
})

/** Requests turns, and notes who got one. */
function takers(turns: Turns) {
  const got: string[] = []
  const ends: Record<string, (() => void)[]> = {}
  const request = async (account: string) => {
    const end = await turns.take(account)
    got.push(account)
    ends[account] = [...(ends[account] ?? []), end]
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  return { got, ends, request, settled }
}

t.test('an account with one request does not wait behind hundreds of another one', async (t) => {
  const { got, ends, request, settled } = takers(new Turns(2))
  for (let n = 0; n < 300; n++) void request('busy')
  void request('other')
  await settled()
  t.strictSame(got, ['busy', 'busy'])
  ends.busy?.[0]?.()
  await settled()
  t.strictSame(got, ['busy', 'busy', 'other'])
})

t.test('an account alone gets all turns, in the order of its requests', async (t) => {
  const turns = new Turns(2)
  const order: number[] = []
  const ends: (() => void)[] = []
  for (let n = 0; n < 5; n++)
    void turns.take('one').then((end) => {
      order.push(n)
      ends.push(end)
    })
  for (let n = 0; n < 5; n++) {
    await new Promise((resolve) => setImmediate(resolve))
    ends[n]?.()
  }
  t.strictSame(order, [0, 1, 2, 3, 4])
})

t.test('a turn ends once', async (t) => {
  const { got, ends, request, settled } = takers(new Turns(1))
  for (let n = 0; n < 3; n++) void request('one')
  await settled()
  ends.one?.[0]?.()
  ends.one?.[0]?.()
  await settled()
  t.equal(got.length, 2)
})
