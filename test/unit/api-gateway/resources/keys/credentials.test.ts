import t from 'tap'
import { findOldestKey, isUsable } from '../../../../../api-gateway/src/resources/keys/credentials.ts'
import { NegativeCache } from '../../../../../api-gateway/src/resources/keys/kube-keys.ts'
import { keyHash, newKeyText } from '../../../../../crds/src/crypto/api-keys.ts'
import { Label } from '../../../../../crds/src/identifiers/names.ts'
import { type ApiKey, type ApiKeySpec, hashesOf } from '../../../../../crds/src/kinds/api-key.ts'
import { anApiKey } from '../../fakes.ts'

// What authentication decides about keys. ../../app.test.ts has the responses to each header and key.

const text = newKeyText()
const now = new Date('2026-11-21T10:00:00Z')
const withLabels = (key: ApiKey, labels: Record<string, string>): ApiKey => ({ ...key, metadata: { ...key.metadata, labels } })
const other = newKeyText()
/** A key whose text before the rotation is `other`. */
const rotating = (spec: ApiKeySpec = {}) =>
  withLabels(anApiKey(text, spec), { [Label.keyHash1]: keyHash(text), [Label.keyHash2]: keyHash(other) })
/** Deleted, and kept in the API server by a finalizer. */
const deleted = (key: ApiKey): ApiKey => ({ ...key, metadata: { ...key.metadata, deletionTimestamp: now.toISOString() } })
const overlap = { previous: { expiryTime: '2026-11-21T10:00:00Z' } }
const before = new Date(now.getTime() - 1)

const usable: [name: string, key: ApiKey, text: string, at: Date, is: boolean][] = [
  ['a key of defaults', anApiKey(text, {}), text, now, true],
  ['an active key', anApiKey(text, { active: true }), text, now, true],
  ['an inactive key', anApiKey(text, { active: false }), text, now, false],
  ['a key that expires later', anApiKey(text, { expiryTime: '2026-11-21T10:00:00.001Z' }), text, now, true],
  ['a key that expires now', anApiKey(text, { expiryTime: '2026-11-21T10:00:00Z' }), text, now, false],
  ['the previous text of a rotation', rotating(), other, now, true],
  ['a third text', rotating(), newKeyText(), now, false],
  ['the previous text in the overlap', rotating(overlap), other, before, true],
  ['the previous text at its end', rotating(overlap), other, now, false],
  ['the new text in the overlap', rotating(overlap), text, before, true],
  ['the new text after the overlap', rotating(overlap), text, now, true],
  ['a deleted key that a finalizer keeps', deleted(anApiKey(text, {})), text, now, false],
]
for (const [name, key, given, at, is] of usable) {
  t.test(`isUsable says ${is ? 'yes' : 'no'} to ${name}`, async (t) => t.equal(isUsable(key, keyHash(given), at), is))
}

t.test('isUsable rejects an empty hash, also for a key without a hash', async (t) => {
  t.equal(hashesOf(rotating()).length, 2)
  t.equal(isUsable(rotating(), '', now), false)
  t.equal(isUsable(withLabels(anApiKey(text, {}), {}), '', now), false)
})

t.test('findOldestKey gives the oldest of several keys with one text', async (t) => {
  const aged = (name: string, creationTimestamp: string) => {
    const key = anApiKey(text, {})
    return { ...key, metadata: { ...key.metadata, name, creationTimestamp } }
  }
  const [oldest, twin, young] = [aged('b', '2026-11-20T00:00:00Z'), aged('c', '2026-11-20T00:00:00Z'), aged('a', '2026-11-21T00:00:00Z')]
  t.equal(findOldestKey([young, twin, oldest]), oldest)
  t.equal(findOldestKey([oldest, young, twin]), oldest)
  t.equal(findOldestKey([]), undefined)
  t.equal(findOldestKey([deleted(oldest), young]), young, 'a deleted key leaves its text to the next one')
})

t.test('NegativeCache asks once in five seconds for one name, and shares the result', async (t) => {
  const cache = new NegativeCache()
  let asked = 0
  const ask = (at: number) => cache.ask('a', at, async () => ++asked)
  t.strictSame(await Promise.all([ask(0), ask(1), ask(4_999)]), [1, 1, 1])
  t.equal(await ask(5_000), 2)
})

t.test('NegativeCache asks at most twenty times a second in all', async (t) => {
  const cache = new NegativeCache()
  const results = await Promise.all(Array.from({ length: 30 }, (_, i) => cache.ask(`key ${i}`, 100, async () => 'asked')))
  t.equal(results.filter((result) => result === 'asked').length, 20)
  t.equal(await cache.ask('later', 1_100, async () => 'asked'), 'asked')
})

t.test('NegativeCache does not remember failed requests', async (t) => {
  const cache = new NegativeCache()
  await t.rejects(
    cache.ask('a', 0, () => Promise.reject(new Error('away'))),
    { message: 'away' },
  )
  t.equal(await cache.ask('a', 1, async () => 'there'), 'there')
})

t.test('NegativeCache remembers only that nothing was found, because found objects may be revoked', async (t) => {
  for (const [found, asks] of [
    [undefined, 1],
    [[], 1],
    [['a key'], 2],
    ['an account', 2],
  ] as const) {
    const cache = new NegativeCache()
    let asked = 0
    const ask = () =>
      cache.ask('a', 0, async () => {
        asked++
        return found
      })
    await ask()
    await ask()
    t.equal(asked, asks, JSON.stringify(found))
  }
})
