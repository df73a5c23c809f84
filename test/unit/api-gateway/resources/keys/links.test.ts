import t from 'tap'
import { unavailable } from '../../../../../api-gateway/src/common/errors.ts'
import { validLinkSecretsOf } from '../../../../../api-gateway/src/resources/keys/link-secrets.ts'
import { captureOptionFields, recordOptions } from '../../../../../api-gateway/src/resources/screenshots/options/options-body.ts'
import { newKeyText } from '../../../../../crds/src/crypto/key-text.ts'
import { deriveLinkSecret } from '../../../../../crds/src/crypto/link-secret.ts'
import { apiKeyIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import { ApiKeySpec } from '../../../../../crds/src/kinds/api-key.ts'
import { aGateway, anApiKey, LINK_KEY, NOW } from '../../fakes.ts'

type Changes = Parameters<typeof aGateway>[0]

/** A gateway, and calls to it with the key of the account or with another one. */
function start(changes: Changes = {}) {
  const gateway = aGateway(changes)
  const call = async (method: string, url: string, body?: unknown, headers = gateway.headers) => {
    const payload = body === undefined ? {} : { payload: body as object }
    const response = await gateway.app.inject({ method: method as 'GET', url: `/v1${url}`, headers, ...payload })
    return { status: response.statusCode, headers: response.headers, body: response.json() }
  }
  const addKey = (spec: ApiKeySpec) => {
    const text = newKeyText()
    const key = anApiKey(text, { accountName: 'acme', ...spec })
    key.metadata = { ...key.metadata, name: `key-${gateway.keys.keys.length + 1}`, uid: `uid-${text}` }
    gateway.keys.keys.push(key)
    return { key, id: apiKeyIdOf(key.metadata), headers: { authorization: `Bearer ${text}` } }
  }
  return { gateway, call, addKey }
}

const hours = (count: number) => new Date(NOW.getTime() + count * 3_600_000)

t.test('POST /keys/:id/link-secret returns the same secret each time, and writes nothing', async (t) => {
  const { gateway, call } = start()
  const { id } = (await call('POST', '/keys', { name: 'links' })).body.data
  const stored = structuredClone(gateway.keys.keys)
  const found = await call('POST', `/keys/${id}/link-secret`)
  t.match(found, { status: 200, headers: { 'cache-control': 'private, no-store' } })
  t.strictSame(found.body.data, { key: id, link_secret: deriveLinkSecret(LINK_KEY, id, 1) })
  t.strictSame((await call('POST', `/keys/${id}/link-secret`)).body, found.body)
  t.strictSame(gateway.keys.keys, stored)
})

t.test('POST /keys/:id/link-secret/rotate returns a new secret, and the previous one stays valid for the overlap', async (t) => {
  const { gateway, call } = start()
  const { id } = (await call('POST', '/keys', { name: 'links' })).body.data
  const rotated = await call('POST', `/keys/${id}/link-secret/rotate`, { overlap_hours: 2 })
  t.match(rotated, { status: 200, headers: { 'cache-control': 'private, no-store' } })
  t.strictSame(rotated.body.data, { key: id, link_secret: deriveLinkSecret(LINK_KEY, id, 2) })
  t.equal((await call('POST', `/keys/${id}/link-secret`)).body.data.link_secret, rotated.body.data.link_secret)
  const key = gateway.keys.keys.at(-1)!
  t.strictSame(key.spec.linkSecret, { version: 2, previous: { version: 1, expiryTime: hours(2).toISOString() } })
  const [current, previous] = [2, 1].map((version) => deriveLinkSecret(LINK_KEY, id, version))
  t.strictSame(validLinkSecretsOf(key, LINK_KEY, hours(1)), [current, previous])
  t.strictSame(validLinkSecretsOf(key, LINK_KEY, hours(2)), [current])
})

t.test('POST /keys/:id/link-secret/rotate with overlap_hours 0 ends the previous secret immediately', async (t) => {
  const { gateway, call } = start()
  const { id } = (await call('POST', '/keys', { name: 'links' })).body.data
  for (const version of [2, 3]) {
    t.equal((await call('POST', `/keys/${id}/link-secret/rotate`, { overlap_hours: 0 })).status, 200)
    t.strictSame(validLinkSecretsOf(gateway.keys.keys.at(-1)!, LINK_KEY, NOW), [deriveLinkSecret(LINK_KEY, id, version)])
  }
})

t.test('POST /keys/:id/link-secret/rotate refuses a second rotation during the overlap unless force is true', async (t) => {
  const { gateway, call } = start()
  const { id } = (await call('POST', '/keys', { name: 'links' })).body.data
  await call('POST', `/keys/${id}/link-secret/rotate`)
  t.match(await call('POST', `/keys/${id}/link-secret/rotate`), {
    status: 409,
    body: { error: { code: 'ROTATION_IN_PROGRESS', details: { previous_link_secret_expires_at: hours(24).toISOString() } } },
  })
  t.equal((await call('POST', `/keys/${id}/link-secret/rotate`, { force: true })).status, 200)
  const [current, previous] = [3, 2].map((version) => deriveLinkSecret(LINK_KEY, id, version))
  t.strictSame(validLinkSecretsOf(gateway.keys.keys.at(-1)!, LINK_KEY, NOW), [current, previous])
})

t.test('link secrets need keys:write and every scope of the key', async (t) => {
  const { gateway, call, addKey } = start()
  const { id } = (await call('GET', '/keys')).body.data[0]
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
  t.equal(gateway.keys.keys[0]!.spec.linkSecret, undefined)
})

t.test('link secrets are unavailable until the gateway has the link key, and a rotation writes nothing', async (t) => {
  const linkKey = () => {
    throw unavailable('link secrets cannot be derived yet: retry in a minute')
  }
  const { gateway, call } = start({ linkKey })
  const { id } = (await call('GET', '/keys')).body.data[0]
  for (const path of ['link-secret', 'link-secret/rotate']) {
    t.match(await call('POST', `/keys/${id}/${path}`), { status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } })
  }
  t.equal(gateway.keys.keys[0]!.spec.linkSecret, undefined)
})

t.test('link_policy is stored with a new key, merged by PATCH, replaced as a whole by PUT, and removed by null', async (t) => {
  const { gateway, call } = start()
  const policy = { allowed_hosts: ['example.com', '*.example.com'], allowed_options: ['viewport_width', 'format'], allow_own_markup: true }
  const created = await call('POST', '/keys', { name: 'links', link_policy: policy })
  t.strictSame(created.body.data.link_policy, policy)
  const policyOf = () => gateway.keys.keys.at(-1)!.spec.linkPolicy
  t.strictSame(policyOf(), { allowedHosts: policy.allowed_hosts, allowedOptions: ['viewportWidth', 'format'], allowOwnMarkup: true })
  const path = `/keys/${created.body.data.id}`
  t.strictSame((await call('PATCH', path, { name: 'new' })).body.data.link_policy, policy, 'an absent field changes nothing')
  const hostsOnly = await call('PUT', path, { link_policy: { allowed_hosts: [] } })
  t.strictSame(hostsOnly.body.data.link_policy, { allowed_hosts: [], allowed_options: null, allow_own_markup: null })
  t.strictSame(policyOf(), { allowedHosts: [] })
  t.strictSame((await call('GET', path)).body.data.link_policy, { allowed_hosts: [], allowed_options: null, allow_own_markup: null })
  await call('PATCH', path, { link_policy: { allowed_options: ['format'], allow_own_markup: true } })
  t.strictSame(policyOf(), { allowedHosts: [], allowedOptions: ['format'], allowOwnMarkup: true }, 'PATCH keeps limits that are absent')
  await call('PATCH', path, { link_policy: { allowed_hosts: null } })
  t.strictSame(policyOf(), { allowedOptions: ['format'], allowOwnMarkup: true }, 'null removes one limit')
  t.equal((await call('PATCH', path, { link_policy: {} })).status, 200)
  t.strictSame(policyOf(), { allowedOptions: ['format'], allowOwnMarkup: true }, 'an empty object changes nothing')
  for (const [method, none] of [
    ['PATCH', null],
    ['PUT', null],
    ['PUT', {}],
    ['PATCH', { allowed_hosts: null, allowed_options: null, allow_own_markup: null }],
  ] as const) {
    await call('PATCH', path, { link_policy: policy })
    t.equal((await call(method, path, { link_policy: none })).body.data.link_policy, null)
    t.equal(policyOf(), undefined)
  }
})

t.test('link_policy with allow_own_markup alone is stored', async (t) => {
  const { gateway, call } = start()
  const created = await call('POST', '/keys', { name: 'links', link_policy: { allow_own_markup: false } })
  t.strictSame(created.body.data.link_policy, { allowed_hosts: null, allowed_options: null, allow_own_markup: false })
  t.strictSame(gateway.keys.keys.at(-1)!.spec.linkPolicy, { allowOwnMarkup: false })
})

t.test('link_policy accepts the name of every option, and returns it unchanged', async (t) => {
  const names = [...Object.keys(captureOptionFields), ...Object.keys(recordOptions)]
  const { gateway, call } = start()
  const created = await call('POST', '/keys', { name: 'links', link_policy: { allowed_options: names } })
  t.strictSame(created.body.data.link_policy, { allowed_hosts: null, allowed_options: names, allow_own_markup: null })
  t.ok(ApiKeySpec.safeParse(gateway.keys.keys.at(-1)!.spec).success, 'the schema of the ApiKey accepts the names')
})

const wrong: { name: string; policy: unknown; detail: object }[] = [
  { name: 'a host with a scheme', policy: { allowed_hosts: ['https://a.example'] }, detail: { path: 'link_policy.allowed_hosts[0]' } },
  {
    name: 'an international host, with the form that browsers send',
    policy: { allowed_hosts: ['*.straße.example'] },
    detail: { path: 'link_policy.allowed_hosts[0]', message: /must be written as browsers send it: \*\.xn--strae-oqa\.example$/ },
  },
  { name: 'a host twice', policy: { allowed_hosts: ['a.example', 'a.example'] }, detail: { path: 'link_policy.allowed_hosts[1]' } },
  {
    name: 'an unknown option',
    policy: { allowed_options: ['format', 'viewport_widht'] },
    detail: { path: 'link_policy.allowed_options[1]', message: /did you mean viewport_width\?/ },
  },
  { name: 'an option twice', policy: { allowed_options: ['format', 'format'] }, detail: { path: 'link_policy.allowed_options[1]' } },
  { name: 'a text for allow_own_markup', policy: { allow_own_markup: 'no' }, detail: { path: 'link_policy.allow_own_markup' } },
  { name: 'an unknown field', policy: { hosts: [] }, detail: { path: 'link_policy.hosts', code: 'unknown_field' } },
  { name: 'a list', policy: [], detail: { path: 'link_policy', code: 'invalid_type' } },
]
for (const { name, policy, detail } of wrong) {
  t.test(`link_policy refuses ${name}`, async (t) => {
    const { call } = start()
    const { id } = (await call('GET', '/keys')).body.data[0]
    for (const [method, path] of [
      ['POST', '/keys'],
      ['PATCH', `/keys/${id}`],
    ] as const) {
      t.match(await call(method, path, { name: 'links', link_policy: policy }), { status: 400, body: { error: { details: [detail] } } })
    }
  })
}
