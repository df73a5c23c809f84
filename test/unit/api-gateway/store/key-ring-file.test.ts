import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { KeyRingFile } from '../../../../api-gateway/src/store/key-ring-file.ts'
import { silentLog } from '../../../../crds/client/log.ts'

const ring = { current: 'a', keys: { a: randomBytes(32).toString('base64') } }

t.test('KeyRingFile gives what is in the file', async (t) => {
  const file = path.join(t.testdir({ 'keys.json': JSON.stringify(ring) }), 'keys.json')
  const source = new KeyRingFile(file, silentLog)
  await source.start()
  t.strictSame(source.current(), ring)
  t.equal(source.isLoaded, true)
  source.stop()
})

t.test('KeyRingFile fails before it has read a valid file, and never logs its content', async (t) => {
  const file = path.join(t.testdir({}), 'keys.json')
  const logged: string[] = []
  const log = { ...silentLog, warn: (fields: object, message: string) => void logged.push(JSON.stringify(fields) + message) }
  const source = new KeyRingFile(file, log)
  await source.start()
  t.equal(source.isLoaded, false)
  t.throws(() => source.current(), { code: 'SERVICE_UNAVAILABLE' })
  source.stop()
  await writeFile(file, '{"current": "topsecret"')
  await source.start()
  t.throws(() => source.current(), { code: 'SERVICE_UNAVAILABLE' })
  source.stop()
  t.equal(logged.length, 2)
  t.notMatch(logged.join(), 'topsecret')
})
