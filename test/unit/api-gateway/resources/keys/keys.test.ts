import t from 'tap'
import * as kinds from '../../../../../crds/client/kinds.ts'
import { keyHash } from '../../../../../crds/src/crypto/api-keys.ts'
import { Annotation } from '../../../../../crds/src/identifiers/names.ts'
import { type ApiKeySpec, hashesOf } from '../../../../../crds/src/kinds/api-key.ts'
import { aGateway, NOW } from '../../fakes.ts'
import { type Call, callerOf, type Refusal, testRefusals } from '../../requests.ts'

type Gateway = ReturnType<typeof aGateway>

const bearer = (text: string) => ({ authorization: `Bearer ${text}` })
const day = (days: number) => new Date(NOW.getTime() + days * 86_400_000).toISOString()
const lastKey = { status: 409, body: { error: { code: 'LAST_API_KEY' } } }
const insufficient = { status: 403, body: { error: { code: 'INSUFFICIENT_SCOPE' } } }

/** A gateway with another key, created by request. */
async function withKey(changes: Parameters<typeof aGateway>[0] = {}, body: object = { name: 'one' }) {
  const gateway = aGateway(changes)
  const created = (await gateway.call('POST', '/keys', body)).body.data
  return { ...gateway, created, path: `/keys/${created.id}` }
}

t.test('POST /keys shows the text once and stores its hash', async (t) => {
  const { call, apiKeys } = aGateway()
  const created = await call('POST', '/keys', { name: 'ci', scopes: ['screenshots:read'], expires_in_days: 2 })
  const { key, ...record } = created.body.data
  t.equal(created.status, 201)
  t.match(created.headers, { location: `/api/v1/keys/${record.id}`, 'cache-control': 'private, no-store' })
  t.match(key, /^ttk_[0-9A-Za-z]{36}$/)
  t.strictSame(record, {
    id: record.id,
    name: 'ci',
    key_prefix: 'ttk_',
    last_four: key.slice(-4),
    scopes: ['screenshots:read'],
    is_active: true,
    created_at: NOW.toISOString(),
    updated_at: NOW.toISOString(),
    expires_at: '2026-11-23T10:20:30.456Z',
    last_used_at: null,
    previous_key_expires_at: null,
    link_policy: null,
    capture_policy: null,
  })
  const stored = apiKeys.objects.at(-1)!
  t.notMatch(JSON.stringify(stored), key)
  t.strictSame(hashesOf(stored), [keyHash(key)])
  t.match(stored.metadata.name, /^key-[0-9a-z]{26}$/)
  t.equal((await call('GET', '/screenshots', undefined, bearer(key))).status, 200)
  t.match(await call('GET', '/keys', undefined, bearer(key)), insufficient)
})

const refused: Refusal[] = [
  ['no body', undefined, ' required'],
  ['no name', {}, 'name required'],
  ['an empty name', { name: '' }, 'name too_small'],
  ['a name of 101 characters', { name: '📷'.repeat(101) }, 'name too_big'],
  ['a name of blanks', { name: ' \t ' }, 'name invalid_value'],
  ['a name of invisible characters', { name: '\u200b\u00a0\u3164\ufe0f' }, 'name invalid_value'],
  ['half a character', { name: '\ud83d' }, 'name invalid_format'],
  ['no scopes', { name: 'a', scopes: [] }, 'scopes too_small'],
  ['an unknown scope', { name: 'a', scopes: ['screenshot:read'] }, 'scopes[0] invalid_value'],
  ['a scope twice', { name: 'a', scopes: ['*', '*'] }, 'scopes[1] duplicate'],
  ['a past expiry', { name: 'a', expires_at: '2026-11-21T10:20:30Z' }, 'expires_at in_the_past'],
  ['an expiry that is no instant', { name: 'a', expires_at: 'tomorrow' }, 'expires_at invalid_format'],
  ['two expiries', { name: 'a', expires_at: '2027-01-01T00:00:00Z', expires_in_days: 1 }, 'expires_in_days contradiction'],
  ['several problems', { expires_in_days: 0, scope: '*' }, 'name required', 'expires_in_days too_small', 'scope unknown_field'],
]
const shared = aGateway()
testRefusals(
  'POST /keys',
  refused,
  (body) => shared.call('POST', '/keys', body),
  () => shared.apiKeys.objects.length,
)

t.test(
  'POST /keys takes ends in small letters or without seconds, and a name of 100 characters, however many bytes they have',
  async (t) => {
    const { call } = aGateway()
    for (const expires_at of ['2027-01-31t10:00:00.5z', '2027-01-31T10:00Z']) {
      const { status, body } = await call('POST', '/keys', { name: 'a', expires_at })
      t.match([status, body.data?.expires_at], [201, /^2027-01-31T10:00:00/], expires_at)
    }
    t.equal((await call('POST', '/keys', { name: '📷'.repeat(100) })).status, 201)
  },
)

t.test('keys cannot grant what they lack, in whatever way', async (t) => {
  const { call, addKey, apiKeys } = aGateway()
  const limited = addKey({ scopes: ['keys:read', 'keys:write'] })
  const strong = addKey({ active: false })
  t.equal((await call('POST', '/keys', { name: 'same', scopes: ['keys:read'] }, limited.headers)).status, 201, 'the control')
  const before = apiKeys.objects
  const attempts: [string, string, unknown][] = [
    ['POST', '/keys', { name: 'all' }],
    ['POST', '/keys', { name: 'more', scopes: ['keys:read', 'screenshots:read'] }],
    ['PATCH', `/keys/${strong.id}`, { is_active: true }],
    ['PATCH', `/keys/${strong.id}`, { scopes: ['usage:read'] }],
    ['PATCH', `/keys/${strong.id}`, { scopes: ['keys:write'] }],
    ['PATCH', `/keys/${strong.id}`, { is_active: false }],
    ['PUT', `/keys/${strong.id}`, { expires_at: null }],
    ['POST', `/keys/${strong.id}/rotate`, undefined],
    ['PATCH', `/keys/${strong.id}`, { name: 'renamed' }],
    ['DELETE', `/keys/${strong.id}`, undefined],
  ]
  for (const [method, url, body] of attempts) {
    const response = await call(method, url, body, limited.headers)
    t.match(response, insufficient, `${method} ${JSON.stringify(body)}`)
    t.match(response.headers['www-authenticate'], /insufficient_scope/)
  }
  const refused = await call('DELETE', `/keys/${strong.id}`, undefined, limited.headers)
  t.match(refused.headers['www-authenticate'], /scope="\*"/, 'the scope that it lacks')
  t.strictSame(apiKeys.objects, before)
  t.equal((await call('DELETE', `/keys/${addKey({ scopes: ['keys:read'] }).id}`, undefined, limited.headers)).status, 204, 'a weaker key')
})

t.test('PATCH and PUT /keys/:id change the given fields', async (t) => {
  const { call, apiKeys, created, path } = await withKey({}, { name: 'one', expires_in_days: 3 })
  const changed = await call('PATCH', path, { is_active: false, expires_at: null })
  const data = { id: created.id, name: 'one', is_active: false, expires_at: null }
  t.match(changed, { status: 200, body: { message: /updated/, data } })
  t.equal(apiKeys.objects.at(-1)!.metadata.annotations?.[Annotation.updatedAt], NOW.toISOString())
  t.equal((await call('PUT', path, { name: 'two' })).body.data.is_active, false, 'PUT leaves what it does not name')
  t.equal((await call('GET', '/keys', undefined, bearer(created.key))).status, 401, 'an inactive key is let in nowhere')
})

t.test('a key ends itself only while another valid one can take its place', async (t) => {
  const { call, keyId, addKey, cluster } = aGateway()
  const path = `/keys/${keyId}`
  // Another replica has deleted it, and the cache of this one still has it.
  cluster.remove(kinds.apiKeys, addKey({}, { name: 'gone' }).key.metadata.name)
  addKey({ expiryTime: new Date(NOW.getTime() - 1).toISOString() })
  addKey({ active: false })
  addKey({}, { deletionTimestamp: NOW.toISOString() })
  t.match(await call('DELETE', path), lastKey)
  t.match(await call('PATCH', path, { is_active: false }), lastKey)
  addKey()
  t.equal((await call('DELETE', path)).status, 204)
  t.equal((await call('GET', '/keys')).status, 401)
})

/** What takes an account's last means to manage its keys away, and a second key that does not make up for it. */
const lockouts: [name: string, body: object, other?: ApiKeySpec][] = [
  ['gives up managing keys', { scopes: ['screenshots:read'] }],
  ['gives up a scope that no other key can grant', { scopes: ['keys:write'] }, { scopes: ['keys:write', 'keys:read'] }],
  ['gets an end', { expires_at: day(7) }],
  ['gets an end after that of every other', { expires_at: day(7) }, { expiryTime: day(6) }],
  ['is switched off beside one that may not manage keys', { is_active: false }, { scopes: ['screenshots:write'] }],
]
for (const [name, body, other] of lockouts) {
  t.test(`PATCH /keys/:id locks no account out: its only key ${name}`, async (t) => {
    const { call, keyId, addKey, apiKeys } = aGateway()
    const path = `/keys/${keyId}`
    if (other) addKey(other)
    const before = apiKeys.objects
    t.match(await call('PATCH', path, body), lastKey)
    t.strictSame(apiKeys.objects, before)
    addKey({ expiryTime: day(8) })
    t.equal((await call('PATCH', path, body)).status, 200, 'another key can do as much for longer')
  })
}

t.test('PATCH /keys/:id of an account’s only key accepts changes that keep its access', async (t) => {
  const { call, keyId, apiKeys } = aGateway()
  apiKeys.change(({ spec }) => (spec.expiryTime = day(7)))
  const scopes = ['*', 'keys:write']
  for (const body of [{ name: 'two' }, { expires_at: day(8) }, { is_active: true }, { scopes }, { expires_at: null }])
    t.equal((await call('PATCH', `/keys/${keyId}`, body)).status, 200, JSON.stringify(body))
})

/** Instants of a request at which another one begins and ends. */
const interleavings: { name: string; at: (gateway: Gateway, rival: () => Promise<void>) => void }[] = [
  {
    name: 'once the first has read the key that it ends',
    at: ({ apiKeys }, rival) => {
      const { findLatest } = apiKeys
      apiKeys.findLatest = async (id) => {
        apiKeys.findLatest = findLatest
        const found = await apiKeys.findLatest(id)
        await rival()
        return found
      }
    },
  },
  {
    name: 'once the first has found a key that stays',
    at: ({ apiKeys }, rival) => {
      apiKeys.beforePatch = async () => {
        apiKeys.beforePatch = () => {}
        await rival()
      }
    },
  },
]
for (const { name, at } of interleavings) {
  t.test(`two keys that end each other at the same time leave one: ${name}`, async (t) => {
    const gateway = aGateway()
    const other = gateway.addKey()
    const statuses: number[] = []
    const end = async (call: Call, id: string) => {
      statuses.push((await call('PATCH', `/keys/${id}`, { is_active: false })).status)
    }
    at(gateway, () => end(callerOf(gateway.app, other.headers), gateway.keyId))
    await end(gateway.call, other.id)
    t.strictSame(statuses.sort(), [200, 409])
    t.equal(gateway.apiKeys.objects.filter(({ spec }) => spec.active !== false).length, 1)
  })
}

t.test(
  'POST /keys/:id/rotate keeps the old text valid for the overlap, and rejects another rotation meanwhile without force',
  async (t) => {
    let now = NOW
    const { call, created, path } = await withKey({ now: () => now })
    const isLetIn = async (text: string) => (await call('GET', '/keys', undefined, bearer(text))).status === 200
    const rotate = (body?: unknown, headers = {}) => call('POST', `${path}/rotate`, body, headers)
    const rotated = await rotate({ overlap_hours: 2 })
    const end = '2026-11-21T12:20:30.456Z'
    t.match(rotated, { status: 201, headers: { 'cache-control': 'private, no-store' } })
    t.match(rotated.body.data, { id: created.id, key: /^ttk_/, previous_key_expires_at: end })
    t.equal(rotated.body.data.last_four, rotated.body.data.key.slice(-4))
    t.strictSame([await isLetIn(created.key), await isLetIn(rotated.body.data.key)], [true, true])

    const error = { code: 'ROTATION_IN_PROGRESS', details: { previous_key_expires_at: end } }
    t.match(await rotate(), { status: 409, body: { error } })
    now = new Date(end)
    t.strictSame([await isLetIn(created.key), await isLetIn(rotated.body.data.key)], [false, true], 'the overlap is over')

    const second = await rotate()
    t.equal(second.body.data.previous_key_expires_at, '2026-11-22T12:20:30.456Z', '24 hours by default')
    const third = await rotate({ force: true, overlap_hours: 0 })
    t.equal(third.body.data.previous_key_expires_at, null)
    t.strictSame([await isLetIn(second.body.data.key), await isLetIn(third.body.data.key)], [false, true])
    t.equal((await rotate('null', { 'content-type': 'application/json' })).status, 400, 'null is no object')
    for (const body of [[], { overlap_hours: 169 }, { overlap_hours: -1 }, { overlap_hours: 1.5 }, { hours: 1 }])
      t.equal((await rotate(body)).status, 400)
  },
)

t.test('requests that are let in are noted as uses of their key, others are not', async (t) => {
  const { call, keys, addKey } = aGateway()
  await call('GET', '/keys')
  t.strictSame(keys.noted.get('key-1'), NOW)
  const limited = addKey({ scopes: ['usage:read'] })
  await call('GET', '/keys', undefined, limited.headers)
  t.equal(keys.noted.has(limited.key.metadata.name), false)
})
