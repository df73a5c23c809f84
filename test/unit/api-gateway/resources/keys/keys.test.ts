import t from 'tap'
import { keyHash, newKeyText } from '../../../../../crds/src/crypto/key-text.ts'
import { apiKeyIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import { Annotation } from '../../../../../crds/src/identifiers/names.ts'
import { type ApiKey, type ApiKeySpec, hashesOf } from '../../../../../crds/src/kinds/api-key.ts'
import { calling } from '../../calling.ts'
import { aGateway, anApiKey, NOW } from '../../fakes.ts'

type Gateway = ReturnType<typeof aGateway>

/** Calls as the first key, or as another one. */
/** A second key of the account; gives its header. */
function addKey(gateway: Gateway, spec: ApiKeySpec = {}) {
  const text = newKeyText()
  const key = anApiKey(text, { accountName: 'acme', ...spec })
  key.metadata = { ...key.metadata, name: `key-${gateway.keys.keys.length + 1}`, uid: `uid-${text}` }
  gateway.keys.keys.push(key)
  return { key, headers: { authorization: `Bearer ${text}` } }
}

/** Another writer changes the newest key: what clients see of it, or a counter alone. */
function overtake({ keys: { keys } }: Gateway, generation?: number) {
  const key = keys.at(-1)!
  keys[keys.length - 1] = { ...key, metadata: { ...key.metadata, resourceVersion: '99', ...(generation ? { generation } : {}) } }
}

t.test('POST /keys shows the text once and stores its hash', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
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
  })
  const stored = gateway.keys.keys.at(-1)!
  t.notMatch(JSON.stringify(stored), key)
  t.strictSame(hashesOf(stored), [keyHash(key)])
  t.match(stored.metadata.name, /^key-[0-9a-z]{26}$/)
  t.equal((await call('GET', '/screenshots', undefined, { authorization: `Bearer ${key}` })).status, 200)
  t.match(await call('GET', '/keys', undefined, { authorization: `Bearer ${key}` }), {
    status: 403,
    body: { error: { code: 'INSUFFICIENT_SCOPE' } },
  })
})

const bodies: { name: string; body: unknown; details: string[] }[] = [
  { name: 'no body', body: undefined, details: [' required'] },
  { name: 'no name', body: {}, details: ['name required'] },
  { name: 'an empty name', body: { name: '' }, details: ['name too_small'] },
  { name: 'a name of 101 characters', body: { name: '📷'.repeat(101) }, details: ['name too_big'] },
  { name: 'a name of blanks', body: { name: ' \t ' }, details: ['name invalid_value'] },
  { name: 'a name of invisible characters', body: { name: '\u200b\u00a0\u3164\ufe0f' }, details: ['name invalid_value'] },
  { name: 'half a character', body: { name: '\ud83d' }, details: ['name invalid_format'] },
  { name: 'no scopes', body: { name: 'a', scopes: [] }, details: ['scopes too_small'] },
  { name: 'an unknown scope', body: { name: 'a', scopes: ['screenshot:read'] }, details: ['scopes[0] invalid_value'] },
  { name: 'a scope twice', body: { name: 'a', scopes: ['*', '*'] }, details: ['scopes[1] duplicate'] },
  { name: 'a past expiry', body: { name: 'a', expires_at: '2026-11-21T10:20:30Z' }, details: ['expires_at in_the_past'] },
  { name: 'an expiry that is no instant', body: { name: 'a', expires_at: 'tomorrow' }, details: ['expires_at invalid_format'] },
  {
    name: 'two expiries',
    body: { name: 'a', expires_at: '2027-01-01T00:00:00Z', expires_in_days: 1 },
    details: ['expires_in_days contradiction'],
  },
  {
    name: 'several problems',
    body: { expires_in_days: 0, scope: '*' },
    details: ['name required', 'expires_in_days too_small', 'scope unknown_field'],
  },
]
for (const { name, body, details } of bodies) {
  t.test(`POST /keys refuses ${name}`, async (t) => {
    const gateway = aGateway()
    const response = await calling(gateway)('POST', '/keys', body)
    t.equal(response.status, 400)
    const told = response.body.error.details.map(({ path, code }: { path: string; code: string }) => `${path} ${code}`)
    t.strictSame(told.sort(), [...details].sort())
    t.equal(gateway.keys.keys.length, 1)
  })
}

t.test('POST /keys refused an end in small letters or without seconds', async (t) => {
  for (const expires_at of ['2027-01-31t10:00:00.5z', '2027-01-31T10:00Z']) {
    const { status, body } = await calling(aGateway())('POST', '/keys', { name: 'a', expires_at })
    t.match([status, body.data?.expires_at], [201, /^2027-01-31T10:00:00/], expires_at)
  }
})

t.test('POST /keys takes a name of 100 characters, however many bytes they have', async (t) => {
  t.equal((await calling(aGateway())('POST', '/keys', { name: '📷'.repeat(100) })).status, 201)
})

t.test('POST /keys drops and lists unknown fields with handling=lenient', async (t) => {
  const response = await calling(aGateway())('POST', '/keys', { name: 'a', scope: '*' }, { prefer: 'handling=lenient' })
  t.match(response, { status: 201, headers: { 'x-ignored-options': 'scope' } })
})

t.test('keys cannot grant what they lack, in whatever way', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  const limited = addKey(gateway, { scopes: ['keys:read', 'keys:write'] })
  const strong = addKey(gateway, { active: false })
  const strongId = (await call('GET', '/keys?include_inactive=1')).body.data.at(-1).id
  t.equal((await call('POST', '/keys', { name: 'same', scopes: ['keys:read'] }, limited.headers)).status, 201, 'the control')
  const attempts: [string, string, unknown][] = [
    ['POST', '/keys', { name: 'all' }],
    ['POST', '/keys', { name: 'more', scopes: ['keys:read', 'screenshots:read'] }],
    ['PATCH', `/keys/${strongId}`, { is_active: true }],
    ['PATCH', `/keys/${strongId}`, { scopes: ['usage:read'] }],
    ['PUT', `/keys/${strongId}`, { expires_at: null }],
    ['POST', `/keys/${strongId}/rotate`, undefined],
    ['PATCH', `/keys/${strongId}`, { name: 'renamed' }],
    ['DELETE', `/keys/${strongId}`, undefined],
  ]
  for (const [method, url, body] of attempts) {
    const response = await call(method, url, body, limited.headers)
    t.match(response, { status: 403, body: { error: { code: 'INSUFFICIENT_SCOPE' } } }, `${method} ${JSON.stringify(body)}`)
    t.match(response.headers['www-authenticate'], /insufficient_scope/)
  }
  t.equal(strong.key.spec.active, false)
})

t.test('POST /keys enforces the maximum keys per account', async (t) => {
  const gateway = aGateway({ maxKeys: 2 })
  const call = calling(gateway)
  t.equal((await call('POST', '/keys', { name: 'second' })).status, 201)
  t.match(await call('POST', '/keys', { name: 'third' }), {
    status: 409,
    body: { error: { code: 'LIMIT_REACHED', details: { limit: 2 } } },
  })
})

t.test('GET /keys pages through the keys of the account alone, masked, and leaves out inactive ones unless asked', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  gateway.keys.keys.push(anApiKey(newKeyText(), { accountName: 'other' }))
  for (const name of ['one', 'two']) await call('POST', '/keys', { name })
  addKey(gateway, { active: false, name: 'off' })
  const list = await call('GET', '/keys?limit=2&offset=1')
  t.match(list.body, { success: true, pagination: { limit: 2, offset: 1, total: 3, has_more: false } })
  t.notOk(JSON.stringify(list.body).includes('"key"'))
  t.match((await call('GET', '/keys?limit=1&include_inactive=true')).body.pagination, { total: 4, has_more: true })
  t.match((await call('GET', '/keys?limit=9999')).body.pagination, { limit: 500 })
  for (const query of ['limit=0', 'offset=-1', 'include_inactive=yes', 'limit=1&limit=2', 'page=2']) {
    t.equal((await call('GET', `/keys?${query}`)).status, 400, query)
  }
})

t.test('GET /keys/:id responds with 304 to its ETag, and with 404 to foreign and malformed ids', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  const { id } = (await call('POST', '/keys', { name: 'one' })).body.data
  const found = await call('GET', `/keys/${id}`)
  t.match(found, {
    status: 200,
    body: { success: true, data: { id, name: 'one' } },
    headers: { 'cache-control': 'private, no-cache, no-transform' },
  })
  t.equal((await call('GET', `/keys/${id}`, undefined, { 'if-none-match': String(found.headers.etag) })).status, 304)
  gateway.keys.keys.at(-1)!.spec.accountName = 'other'
  for (const unknown of [id, 'key_x', id.replace('_', '-')]) t.equal((await call('GET', `/keys/${unknown}`)).status, 404)
})

t.test('PATCH and PUT /keys/:id change the given fields if the version matches', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  const { id, key } = (await call('POST', '/keys', { name: 'one', expires_in_days: 3 })).body.data
  const etag = String((await call('GET', `/keys/${id}`)).headers.etag)
  const changed = await call('PATCH', `/keys/${id}`, { is_active: false, expires_at: null }, { 'if-match': etag })
  t.match(changed, { status: 200, body: { message: /updated/, data: { id, name: 'one', is_active: false, expires_at: null } } })
  t.equal(gateway.keys.keys.at(-1)!.metadata.annotations?.[Annotation.updatedAt], NOW.toISOString())
  t.match(await call('PUT', `/keys/${id}`, { name: 'two' }, { 'if-match': etag }), {
    status: 412,
    body: { error: { code: 'PRECONDITION_FAILED' } },
  })
  t.equal((await call('PUT', `/keys/${id}`, { name: 'two' })).body.data.is_active, false, 'PUT leaves what it does not name')
  t.match(await call('PATCH', `/keys/${id}`, {}), { status: 400, body: { error: { details: [{ code: 'empty' }] } } })
  t.equal((await call('GET', '/keys', undefined, { authorization: `Bearer ${key}` })).status, 401, 'an inactive key is let in nowhere')
})

t.test('PATCH /keys/:id under If-Match loses to a writer that comes in between', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  const { id } = (await call('POST', '/keys', { name: 'one' })).body.data
  const etag = String((await call('GET', `/keys/${id}`)).headers.etag)
  const patch = () => call('PATCH', `/keys/${id}`, { name: 'two' }, { 'if-match': etag })
  let rivals = [() => overtake(gateway, 2)]
  gateway.apiKeys.beforePatch = () => rivals.pop()?.()
  t.equal((await patch()).status, 412)
  const again = String((await call('GET', `/keys/${id}`)).headers.etag)
  rivals = [() => overtake(gateway)]
  t.equal((await call('PATCH', `/keys/${id}`, { name: 'two' }, { 'if-match': again })).status, 200, 'a counter is no rival')
})

t.test('a key ends itself only while another valid one can take its place', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  const { id } = (await call('GET', '/keys')).body.data[0]
  addKey(gateway, { expiryTime: new Date(NOW.getTime() - 1).toISOString() })
  addKey(gateway, { active: false })
  addKey(gateway)
  gateway.keys.keys.at(-1)!.metadata.deletionTimestamp = NOW.toISOString()
  t.match(await call('DELETE', `/keys/${id}`), { status: 409, body: { error: { code: 'LAST_API_KEY' } } })
  t.match(await call('PATCH', `/keys/${id}`, { is_active: false }), { status: 409, body: { error: { code: 'LAST_API_KEY' } } })
  addKey(gateway)
  t.equal((await call('DELETE', `/keys/${id}`)).status, 204)
  t.equal((await call('GET', '/keys')).status, 401)
})

const day = (days: number) => new Date(NOW.getTime() + days * 86_400_000).toISOString()

/** What takes an account's last means to manage its keys away, and a second key that does not make up for it. */
const lockouts: { name: string; body: object; other?: ApiKeySpec }[] = [
  { name: 'gives up managing keys', body: { scopes: ['screenshots:read'] } },
  {
    name: 'gives up a scope that no other key can grant',
    body: { scopes: ['keys:write'] },
    other: { scopes: ['keys:write', 'keys:read'] },
  },
  { name: 'gets an end', body: { expires_at: day(7) } },
  { name: 'gets an end after that of every other', body: { expires_at: day(7) }, other: { expiryTime: day(6) } },
  { name: 'is switched off beside one that may not manage keys', body: { is_active: false }, other: { scopes: ['screenshots:write'] } },
]
for (const { name, body, other } of lockouts) {
  t.test(`PATCH /keys/:id locks no account out: its only key ${name}`, async (t) => {
    const gateway = aGateway()
    const call = calling(gateway)
    const { id } = (await call('GET', '/keys')).body.data[0]
    if (other) addKey(gateway, other)
    const before = structuredClone(gateway.keys.keys)
    t.match(await call('PATCH', `/keys/${id}`, body), { status: 409, body: { error: { code: 'LAST_API_KEY' } } })
    t.strictSame(gateway.keys.keys, before)
    addKey(gateway, { expiryTime: day(8) })
    t.equal((await call('PATCH', `/keys/${id}`, body)).status, 200, 'another key can do as much for longer')
  })
}

t.test('PATCH /keys/:id of an account’s only key accepts changes that keep its access', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  const { id } = (await call('GET', '/keys')).body.data[0]
  gateway.keys.keys[0]!.spec.expiryTime = day(7)
  for (const body of [
    { name: 'two' },
    { expires_at: day(8) },
    { is_active: true },
    { scopes: ['*', 'keys:write'] },
    { expires_at: null },
  ]) {
    t.equal((await call('PATCH', `/keys/${id}`, body)).status, 200, JSON.stringify(body))
  }
})

t.test('a key cannot change, end or rotate one that may do more', async (t) => {
  const gateway = aGateway()
  const { id } = (await calling(gateway)('GET', '/keys')).body.data[0]
  const { headers } = addKey(gateway, { scopes: ['keys:write', 'screenshots:read'] })
  const call = calling({ ...gateway, headers })
  const refused = { status: 403, headers: { 'www-authenticate': /scope="\*"/ }, body: { error: { code: 'INSUFFICIENT_SCOPE' } } }
  for (const body of [{ is_active: false }, { name: 'mine' }, { scopes: ['keys:write'] }, { expires_at: day(1) }]) {
    t.match(await call('PATCH', `/keys/${id}`, body), refused, JSON.stringify(body))
  }
  t.match(await call('DELETE', `/keys/${id}`), refused)
  t.match(await call('POST', `/keys/${id}/rotate`), refused)
  const lesser = addKey(gateway, { scopes: ['screenshots:read'] })
  t.equal((await call('DELETE', `/keys/${apiKeyIdOf(lesser.key.metadata)}`)).status, 204)
})

/** Instants of a request at which another one begins and ends. */
const interleavings: { name: string; at: (gateway: Gateway, rival: () => Promise<void>) => void }[] = [
  {
    name: 'once the first has read the key that it ends',
    at: ({ apiKeys }, rival) => {
      const { findLatest } = apiKeys
      apiKeys.findLatest = async (id) => {
        apiKeys.findLatest = findLatest
        const found = structuredClone(await apiKeys.findLatest(id))
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
    const { key: other, headers } = addKey(gateway)
    const [own] = gateway.keys.keys
    const statuses: number[] = []
    const end = async (call: ReturnType<typeof calling>, key: ApiKey) => {
      statuses.push((await call('PATCH', `/keys/${apiKeyIdOf(key.metadata)}`, { is_active: false })).status)
    }
    at(gateway, () => end(calling({ ...gateway, headers }), own!))
    await end(calling(gateway), other)
    t.strictSame(statuses.sort(), [200, 409])
    t.equal(gateway.keys.keys.filter(({ spec }) => spec.active !== false).length, 1)
  })
}

t.test('DELETE /keys/:id ends another key at once, and a second time finds none', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  const { id, key } = (await call('POST', '/keys', { name: 'one' })).body.data
  t.equal((await call('DELETE', `/keys/${id}`, undefined, { 'if-match': '"0"' })).status, 412)
  t.match(await call('DELETE', `/keys/${id}`), { status: 204, body: undefined })
  t.equal((await call('DELETE', `/keys/${id}`)).status, 404)
  t.match(await call('GET', '/keys', undefined, { authorization: `Bearer ${key}` }), {
    status: 401,
    body: { error: { code: 'INVALID_API_KEY' } },
  })
})

t.test(
  'POST /keys/:id/rotate keeps the old text valid for the overlap, and rejects another rotation meanwhile without force',
  async (t) => {
    let now = NOW
    const gateway = aGateway({ now: () => now })
    const call = calling(gateway)
    const created = (await call('POST', '/keys', { name: 'one' })).body.data
    const isLetIn = async (text: string) => (await call('GET', '/keys', undefined, { authorization: `Bearer ${text}` })).status === 200
    const rotated = await call('POST', `/keys/${created.id}/rotate`, { overlap_hours: 2 })
    t.match(rotated, { status: 201, headers: { 'cache-control': 'private, no-store' }, body: { data: { id: created.id, key: /^ttk_/ } } })
    t.equal(rotated.body.data.previous_key_expires_at, '2026-11-21T12:20:30.456Z')
    t.equal(rotated.body.data.last_four, rotated.body.data.key.slice(-4))
    t.strictSame([await isLetIn(created.key), await isLetIn(rotated.body.data.key)], [true, true])

    t.match(await call('POST', `/keys/${created.id}/rotate`), {
      status: 409,
      body: { error: { code: 'ROTATION_IN_PROGRESS', details: { previous_key_expires_at: '2026-11-21T12:20:30.456Z' } } },
    })
    now = new Date('2026-11-21T12:20:30.456Z')
    t.strictSame([await isLetIn(created.key), await isLetIn(rotated.body.data.key)], [false, true], 'the overlap is over')

    const second = await call('POST', `/keys/${created.id}/rotate`)
    t.equal(second.body.data.previous_key_expires_at, '2026-11-22T12:20:30.456Z', '24 hours by default')
    const third = await call('POST', `/keys/${created.id}/rotate`, { force: true, overlap_hours: 0 })
    t.equal(third.body.data.previous_key_expires_at, null)
    t.strictSame([await isLetIn(second.body.data.key), await isLetIn(third.body.data.key)], [false, true])
    const none = await call('POST', `/keys/${created.id}/rotate`, 'null', { 'content-type': 'application/json' })
    t.equal(none.status, 400, 'null is no object')
    for (const body of [[], { overlap_hours: 169 }, { overlap_hours: -1 }, { overlap_hours: 1.5 }, { hours: 1 }]) {
      t.equal((await call('POST', `/keys/${created.id}/rotate`, body)).status, 400)
    }
  },
)

t.test('POST /keys/:id/rotate begins again when a counter was quicker', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  const { id } = (await call('POST', '/keys', { name: 'one' })).body.data
  let writes = 0
  gateway.apiKeys.beforePatch = () => {
    if (writes++ === 0) overtake(gateway)
  }
  t.equal((await call('POST', `/keys/${id}/rotate`)).status, 201)
  t.equal(writes, 2)
})

t.test('POST /keys under an Idempotency-Key makes one key and shows its text to the first request only', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  const once = { 'idempotency-key': 'k1' }
  const first = await call('POST', '/keys', { name: 'one' }, once)
  const again = await call('POST', '/keys', { name: 'one' }, once)
  t.match(again, { status: 201, headers: { 'idempotent-replayed': 'true', location: first.headers.location } })
  const { key, ...record } = first.body.data
  t.strictSame(again.body.data, record)
  t.match(again.body.message, /shown only once/)
  t.equal(gateway.keys.keys.length, 2)
  t.match(await call('POST', '/keys', { name: 'two' }, once), { status: 422, body: { error: { code: 'IDEMPOTENCY_KEY_REUSED' } } })
  t.notMatch(JSON.stringify([...gateway.objects.objects.values()]), key)
})

t.test('POST /keys does not use up the Idempotency-Key when it is rejected', async (t) => {
  const gateway = aGateway({ maxKeys: 2 })
  const call = calling(gateway)
  const { id } = (await call('POST', '/keys', { name: 'one' })).body.data
  const once = { 'idempotency-key': 'k1' }
  t.equal((await call('POST', '/keys', { name: 'two' }, once)).status, 409)
  await call('DELETE', `/keys/${id}`)
  t.match(await call('POST', '/keys', { name: 'three' }, once), { status: 201, body: { data: { key: /^ttk_/ } } })
})

t.test('requests that are let in are noted as uses of their key, others are not', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  await call('GET', '/keys')
  t.strictSame(gateway.keys.uses.get('key-1'), NOW)
  const limited = addKey(gateway, { scopes: ['usage:read'] })
  await call('GET', '/keys', undefined, limited.headers)
  t.equal(gateway.keys.uses.has(limited.key.metadata.name), false)
})
