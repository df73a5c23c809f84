import t from 'tap'
import { assertScope, findOldestKey, isUsable, parseBearer } from '../../../../../api-gateway/src/resources/keys/credentials.ts'
import { keyHash, newKeyText } from '../../../../../crds/src/crypto/key-text.ts'
import { Label } from '../../../../../crds/src/identifiers/names.ts'
import { type ApiKey, type ApiKeySpec, hashesOf } from '../../../../../crds/src/kinds/api-key.ts'
import { anApiKey } from '../../fakes.ts'

const text = newKeyText()
const now = new Date('2026-11-21T10:00:00Z')

for (const header of [`Bearer ${text}`, `bearer   ${text}`, `BEARER ${text} `]) {
  t.test(`parseBearer reads ${header.slice(0, 12)}…`, async (t) => t.equal(parseBearer(header), text))
}

const missing = [undefined, '', 'Bearer', 'Bearer ', text, `Basic ${text}`, `Bearer ${text} x`]
for (const header of missing) {
  t.test(`parseBearer says UNAUTHORIZED to ${header?.slice(0, 12)}`, async (t) => {
    t.throws(() => parseBearer(header), { code: 'UNAUTHORIZED', headers: { 'www-authenticate': 'Bearer realm="api"' } })
  })
}

t.test('parseBearer refuses by its checksum what cannot be a key', async (t) => {
  const flipped = `${text.slice(0, 8)}${text[8] === 'a' ? 'b' : 'a'}${text.slice(9)}`
  for (const wrong of ['x', 'ttk_short', flipped, `${text}0`]) {
    t.throws(() => parseBearer(`Bearer ${wrong}`), { code: 'INVALID_API_KEY', headers: { 'www-authenticate': /error="invalid_token"/ } })
  }
})

const usable: [string, ApiKeySpec, boolean][] = [
  ['a key of defaults', {}, true],
  ['an active key', { active: true }, true],
  ['an inactive key', { active: false }, false],
  ['a key that expires later', { expiryTime: '2026-11-21T10:00:00.001Z' }, true],
  ['a key that expires now', { expiryTime: '2026-11-21T10:00:00Z' }, false],
]
for (const [name, spec, is] of usable) {
  t.test(`isUsable ${name}`, async (t) => t.equal(isUsable(anApiKey(text, spec), keyHash(text), now), is))
}

t.test('isUsable accepts only the two keys of a rotation', async (t) => {
  const other = newKeyText()
  const key = anApiKey(text, {})
  const rotating = { ...key, metadata: { ...key.metadata, labels: { ...key.metadata.labels, [Label.keyHash2]: keyHash(other) } } }
  t.equal(hashesOf(rotating).length, 2)
  t.equal(isUsable(rotating, keyHash(other), now), true)
  t.equal(isUsable(rotating, keyHash(newKeyText()), now), false)
  t.equal(isUsable(rotating, '', now), false)
})

t.test('isUsable ends only the text before a rotation when the overlap is over', async (t) => {
  const other = newKeyText()
  const expiryTime = '2026-11-21T11:00:00Z'
  const key = anApiKey(text, { previous: { expiryTime } })
  const rotating = { ...key, metadata: { ...key.metadata, labels: { ...key.metadata.labels, [Label.keyHash2]: keyHash(other) } } }
  const before = new Date('2026-11-21T10:59:59.999Z')
  t.strictSame(
    [before, new Date(expiryTime)].map((at) => isUsable(rotating, keyHash(other), at)),
    [true, false],
  )
  t.strictSame(
    [before, new Date(expiryTime)].map((at) => isUsable(rotating, keyHash(text), at)),
    [true, true],
  )
})

/** Deleted, and kept in the API server by a finalizer. */
const deleted = (key: ApiKey): ApiKey => ({ ...key, metadata: { ...key.metadata, deletionTimestamp: now.toISOString() } })

t.test('a deleted key worked on while a finalizer kept it', async (t) => {
  t.equal(isUsable(deleted(anApiKey(text, {})), keyHash(text), now), false)
})

t.test('isUsable rejects an empty hash for a key without a hash', async (t) => {
  const key = anApiKey(text, {})
  t.equal(isUsable({ ...key, metadata: { ...key.metadata, labels: {} } }, '', now), false)
})

t.test('findOldestKey gives the oldest of several keys with one text', async (t) => {
  const aged = (name: string, creationTimestamp: string) => {
    const key = anApiKey(text, {})
    return { ...key, metadata: { ...key.metadata, name, creationTimestamp } }
  }
  const [oldest, twin, young] = [aged('b', '2026-11-20T00:00:00Z'), aged('c', '2026-11-20T00:00:00Z'), aged('a', '2026-11-21T00:00:00Z')]
  for (const keys of [
    [young, twin, oldest],
    [oldest, young, twin],
  ])
    t.equal(findOldestKey(keys), oldest)
  t.equal(findOldestKey([]), undefined)
  t.equal(findOldestKey([deleted(oldest), young]), young, 'a deleted key leaves its text to the next one')
})

t.test('assertScope lets pass what the key may do', async (t) => {
  for (const scopes of [undefined, ['*'], ['screenshots:read'], ['keys:read', 'screenshots:read']] as const) {
    const spec: ApiKeySpec = scopes === undefined ? {} : { scopes: [...scopes] }
    t.doesNotThrow(() => assertScope(anApiKey(text, spec), 'screenshots:read'))
  }
  for (const scopes of [[], ['screenshots:write']] as const) {
    t.throws(() => assertScope(anApiKey(text, { scopes: [...scopes] }), 'screenshots:read'), {
      code: 'INSUFFICIENT_SCOPE',
      headers: { 'www-authenticate': 'Bearer realm="api", error="insufficient_scope", scope="screenshots:read"' },
    })
  }
})
