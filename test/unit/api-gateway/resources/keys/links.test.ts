import t from 'tap'
import { unavailable } from '../../../../../api-gateway/src/common/errors.ts'
import { validLinkSecretsOf } from '../../../../../api-gateway/src/resources/keys/key-object.ts'
import { captureOptionFields, recordOptions } from '../../../../../api-gateway/src/resources/screenshots/options/options-body.ts'
import { deriveLinkSecret } from '../../../../../crds/src/crypto/api-keys.ts'
import { ApiKeySpec } from '../../../../../crds/src/kinds/api-key.ts'
import { aGateway, LINK_KEY, NOW } from '../../fakes.ts'

const hours = (count: number) => new Date(NOW.getTime() + count * 3_600_000)

/** A gateway and its newest key. */
async function start(body: object = {}) {
  const gateway = aGateway()
  const created = (await gateway.call('POST', '/keys', { name: 'links', ...body })).body.data
  const { id } = created
  const path = `/keys/${id}/link-secret`
  const stored = () => gateway.apiKeys.objects.at(-1)!
  const secrets = (...versions: number[]) => versions.map((version) => deriveLinkSecret(LINK_KEY, id, version))
  const validAt = (time: Date) => validLinkSecretsOf(stored(), LINK_KEY, time)
  const rotate = (body?: object) => gateway.call('POST', `${path}/rotate`, body)
  return { ...gateway, created, id, path, spec: () => stored().spec, secrets, validAt, rotate }
}

t.test('POST /keys/:id/link-secret returns the same secret each time, and writes nothing', async (t) => {
  const { call, apiKeys, id, path, secrets } = await start()
  const stored = apiKeys.objects
  const found = await call('POST', path)
  t.match(found, { status: 200, headers: { 'cache-control': 'private, no-store' } })
  t.strictSame(found.body.data, { key: id, link_secret: secrets(1)[0] })
  t.strictSame((await call('POST', path)).body, found.body)
  t.strictSame(apiKeys.objects, stored)
})

t.test('POST /keys/:id/link-secret/rotate keeps the previous secret for the overlap, which only force or its end can end', async (t) => {
  const { call, id, path, spec, secrets, validAt, rotate } = await start()
  const rotated = await rotate({ overlap_hours: 2 })
  t.match(rotated, { status: 200, headers: { 'cache-control': 'private, no-store' } })
  t.strictSame(rotated.body.data, { key: id, link_secret: secrets(2)[0] })
  t.equal((await call('POST', path)).body.data.link_secret, rotated.body.data.link_secret)
  t.strictSame(spec().linkSecret, { version: 2, previous: { version: 1, expiryTime: hours(2).toISOString() } })
  t.strictSame([validAt(hours(1)), validAt(hours(2))], [secrets(2, 1), secrets(2)])
  const error = { code: 'ROTATION_IN_PROGRESS', details: { previous_link_secret_expires_at: hours(2).toISOString() } }
  t.match(await rotate(), { status: 409, body: { error } })
  t.equal((await rotate({ force: true })).status, 200)
  t.strictSame([validAt(hours(23)), validAt(hours(24))], [secrets(3, 2), secrets(3)], '24 hours by default')
  await rotate({ force: true, overlap_hours: 0 })
  t.strictSame(validAt(NOW), secrets(4))
})

t.test('link secrets need keys:write and every scope of the key', async (t) => {
  const { keyId: id, apiKeys, call, addKey } = aGateway()
  const limited = addKey({ scopes: ['keys:read', 'keys:write', 'screenshots:write'] })
  const equal = addKey({ scopes: ['screenshots:write'] })
  const foreign = addKey({ accountName: 'other' })
  for (const path of ['link-secret', 'link-secret/rotate']) {
    const refused = { status: 403, body: { error: { code: 'INSUFFICIENT_SCOPE' } } }
    t.match(await call('POST', `/keys/${id}/${path}`, undefined, limited.headers), refused)
    t.match(await call('POST', `/keys/${equal.id}/${path}`, undefined, equal.headers), refused, 'without keys:write')
    t.equal((await call('POST', `/keys/${equal.id}/${path}`, undefined, limited.headers)).status, 200, 'control')
    t.equal((await call('POST', `/keys/${foreign.id}/${path}`)).status, 404)
  }
  t.equal(apiKeys.objects[0]!.spec.linkSecret, undefined)
})

t.test('link secrets are unavailable until the gateway has the link key, and a rotation writes nothing', async (t) => {
  const linkKey = () => {
    throw unavailable('link secrets cannot be derived yet: retry in a minute')
  }
  const { call, keyId, apiKeys } = aGateway({ linkKey })
  for (const suffix of ['link-secret', 'link-secret/rotate'])
    t.match(await call('POST', `/keys/${keyId}/${suffix}`), { status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } })
  t.equal(apiKeys.objects[0]!.spec.linkSecret, undefined)
})

const policy = { allowed_hosts: ['example.com', '*.example.com'], allowed_options: ['viewport_width', 'format'], allow_own_markup: true }
const storedPolicy = { allowedHosts: policy.allowed_hosts, allowedOptions: ['viewportWidth', 'format'], allowOwnMarkup: true }
const noHosts = { allowed_hosts: [], allowed_options: null, allow_own_markup: null }

/** Changes of a policy, one after the other: what is stored, and what is shown. */
const policyChanges: [what: string, method: 'PATCH' | 'PUT', change: object, stored: object, shown?: object][] = [
  ['an absent field changes nothing', 'PATCH', { name: 'new' }, storedPolicy, policy],
  ['PUT replaces all of it', 'PUT', { link_policy: { allowed_hosts: [] } }, { allowedHosts: [] }, noHosts],
  [
    'PATCH keeps limits that are absent',
    'PATCH',
    { link_policy: { allowed_options: ['format'], allow_own_markup: true } },
    { allowedHosts: [], allowedOptions: ['format'], allowOwnMarkup: true },
  ],
  ['null removes one limit', 'PATCH', { link_policy: { allowed_hosts: null } }, { allowedOptions: ['format'], allowOwnMarkup: true }],
  ['an empty object changes nothing', 'PATCH', { link_policy: {} }, { allowedOptions: ['format'], allowOwnMarkup: true }],
  ['false alone is a policy', 'PUT', { link_policy: { allow_own_markup: false } }, { allowOwnMarkup: false }],
]

t.test('link_policy is stored with a new key, merged by PATCH, replaced as a whole by PUT, and removed by null', async (t) => {
  const { call, created, id, spec } = await start({ link_policy: policy })
  t.strictSame(created.link_policy, policy)
  t.strictSame(spec().linkPolicy, storedPolicy)
  for (const [what, method, change, stored, shown] of policyChanges) {
    const changed = await call(method, `/keys/${id}`, change)
    t.equal(changed.status, 200, what)
    t.strictSame(spec().linkPolicy, stored, what)
    if (!shown) continue
    t.strictSame(changed.body.data.link_policy, shown, what)
    t.strictSame((await call('GET', `/keys/${id}`)).body.data.link_policy, shown, what)
  }
  for (const [method, none] of [
    ['PATCH', null],
    ['PUT', null],
    ['PUT', {}],
    ['PATCH', { allowed_hosts: null, allowed_options: null, allow_own_markup: null }],
  ] as const) {
    await call('PATCH', `/keys/${id}`, { link_policy: policy })
    t.equal((await call(method, `/keys/${id}`, { link_policy: none })).body.data.link_policy, null)
    t.equal(spec().linkPolicy, undefined)
  }
})

t.test('link_policy accepts the name of every option, and returns it unchanged', async (t) => {
  const names = [...Object.keys(captureOptionFields), ...Object.keys(recordOptions)]
  const { created, spec } = await start({ link_policy: { allowed_options: names } })
  t.strictSame(created.link_policy, { allowed_hosts: null, allowed_options: names, allow_own_markup: null })
  t.ok(ApiKeySpec.safeParse(spec()).success, 'the schema of the ApiKey accepts the names')
})

const inBrowserForm = /must be written as browsers send it: \*\.xn--strae-oqa\.example$/
const wrong: [name: string, policy: unknown, detail: object][] = [
  ['a host with a scheme', { allowed_hosts: ['https://a.example'] }, { path: 'link_policy.allowed_hosts[0]' }],
  [
    'an international host, with the form that browsers send',
    { allowed_hosts: ['*.straße.example'] },
    { path: 'link_policy.allowed_hosts[0]', message: inBrowserForm },
  ],
  ['a host twice', { allowed_hosts: ['a.example', 'a.example'] }, { path: 'link_policy.allowed_hosts[1]' }],
  [
    'an unknown option',
    { allowed_options: ['format', 'viewport_widht'] },
    { path: 'link_policy.allowed_options[1]', message: /did you mean viewport_width\?/ },
  ],
  ['an option twice', { allowed_options: ['format', 'format'] }, { path: 'link_policy.allowed_options[1]' }],
  ['a text for allow_own_markup', { allow_own_markup: 'no' }, { path: 'link_policy.allow_own_markup' }],
  ['an unknown field', { hosts: [] }, { path: 'link_policy.hosts', code: 'unknown_field' }],
  ['a list', [], { path: 'link_policy', code: 'invalid_type' }],
]
t.test('link_policy refuses wrong limits, at creation and at a change', async (t) => {
  const { call, id } = await start()
  for (const [name, link_policy, detail] of wrong) {
    const refused = { status: 400, body: { error: { details: [detail] } } }
    t.match(await call('POST', '/keys', { name: 'links', link_policy }), refused, name)
    t.match(await call('PATCH', `/keys/${id}`, { name: 'links', link_policy }), refused, name)
  }
})
