import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import t, { type Test } from 'tap'
import type { z } from 'zod'
import { MountedJson } from '../../../../api-gateway/src/store/mounted-json.ts'
import { silentLog } from '../../../../crds/client/log.ts'
import { KeyRing } from '../../../../crds/src/crypto/key-ring.ts'
import { newOpeningKey, SealingKey, toSealingKey } from '../../../../crds/src/crypto/sealed.ts'

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
