import t from 'tap'
import { deriveLinkSecret } from '../../../../../crds/src/crypto/api-keys.ts'
import type { CapturePolicySpec } from '../../../../../crds/src/kinds/capture-policy.ts'
import { aGateway, LINK_KEY } from '../../fakes.ts'

const policy = {
  allowed_hosts: ['example.com', '*.example.com'],
  allowed_request_hosts: ['*.example.com'],
  allowed_options: ['viewport_width', 'html'],
  allow_own_content: true,
}
const stored = {
  allowedHosts: policy.allowed_hosts,
  allowedRequestHosts: policy.allowed_request_hosts,
  allowedOptions: ['viewportWidth', 'html'],
  allowOwnContent: true,
}

t.test('capture_policy is stored with a new key, merged by PATCH, replaced as a whole by PUT, and removed by null', async (t) => {
  const { call, apiKeys } = aGateway()
  const created = (await call('POST', '/keys', { name: 'limited', capture_policy: policy })).body.data
  const spec = () => apiKeys.objects.at(-1)!.spec
  t.strictSame(created.capture_policy, policy)
  t.strictSame(spec().capturePolicy, stored)
  const path = `/keys/${created.id}`
  t.strictSame((await call('GET', path)).body.data.capture_policy, policy)
  await call('PATCH', path, { capture_policy: { allowed_hosts: [], allow_own_content: null } })
  const { allowOwnContent: _, ...rest } = stored
  t.strictSame(spec().capturePolicy, { ...rest, allowedHosts: [] })
  await call('PUT', path, { capture_policy: { allowed_options: [] } })
  t.strictSame(spec().capturePolicy, { allowedOptions: [] })
  t.equal((await call('PATCH', path, { capture_policy: null })).body.data.capture_policy, null)
  t.equal(spec().capturePolicy, undefined)
})

t.test('capture_policy refuses wrong limits, and more than 4096 characters of hosts also after a merge', async (t) => {
  const { call, apiKeys } = aGateway()
  const { id } = (await call('POST', '/keys', { name: 'limited' })).body.data
  const long = (letter: string) => Array.from({ length: 16 }, (_, index) => `${letter.repeat(63)}.${'a'.repeat(60)}.${index + 10}x`)
  const wrong: [body: object, detail: object][] = [
    [{ allowed_hosts: ['https://a.example'] }, { path: 'capture_policy.allowed_hosts[0]' }],
    [{ allowed_request_hosts: ['a.example', 'a.example'] }, { path: 'capture_policy.allowed_request_hosts[1]', code: 'duplicate' }],
    [{ allowed_options: ['viewport_widht'] }, { path: 'capture_policy.allowed_options[0]', message: /did you mean viewport_width\?/ }],
    [{ allow_own_markup: true }, { path: 'capture_policy.allow_own_markup', code: 'unknown_field' }],
    [
      { allowed_hosts: long('a'), allowed_request_hosts: [...long('b'), 'a.example'] },
      { path: 'capture_policy', code: 'too_big' },
    ],
  ]
  for (const [capture_policy, detail] of wrong) {
    const refused = { status: 400, body: { error: { details: [detail] } } }
    t.match(await call('POST', '/keys', { name: 'a', capture_policy }), refused, JSON.stringify(detail))
    t.match(await call('PATCH', `/keys/${id}`, { capture_policy }), refused, JSON.stringify(detail))
  }
  t.equal((await call('PATCH', `/keys/${id}`, { capture_policy: { allowed_hosts: long('a') } })).status, 200, 'control')
  const merged = { capture_policy: { allowed_request_hosts: [...long('b'), 'a.example'] } }
  t.match(await call('PATCH', `/keys/${id}`, merged), { status: 400, body: { error: { details: [{ code: 'too_big' }] } } })
  t.equal(apiKeys.objects.length, 2)
})

/** A gateway with a key that may capture example.com, and everything that it has stored. */
function aLimitedGateway(capturePolicy: CapturePolicySpec = { allowedHosts: ['example.com'], allowedRequestHosts: ['*.example.com'] }) {
  const gateway = aGateway()
  const limited = gateway.addKey({ capturePolicy })
  const storedThere = () =>
    structuredClone([[...gateway.objects.objects], gateway.screenshots.specs, gateway.quota.usage, gateway.schedules.objects])
  return { ...gateway, limited, storedThere }
}

const url = 'https://example.com/'
const other = 'https://other.example/'
const own = { html: '<p>' }

/** Requests that a limited key must not make: their code, and the field that the message names. */
const waysAround: [what: string, method: string, path: string, body: object | undefined, code: string, field: string][] = [
  ['another host', 'POST', '/screenshots', { url: other }, 'URL_NOT_ALLOWED', 'allowed_hosts'],
  ['a subdomain', 'POST', '/screenshots', { url: 'https://www.example.com/' }, 'URL_NOT_ALLOWED', 'allowed_hosts'],
  ['a host as user name', 'POST', '/screenshots', { url: 'https://example.com@other.example/' }, 'URL_NOT_ALLOWED', 'allowed_hosts'],
  ['a url in options', 'POST', '/screenshots', { options: { url: other } }, 'URL_NOT_ALLOWED', 'allowed_hosts'],
  ['a video', 'POST', '/videos', { url: other }, 'URL_NOT_ALLOWED', 'allowed_hosts'],
  ['own markup', 'POST', '/screenshots', { options: own }, 'OPTION_NOT_ALLOWED', 'allow_own_content'],
  [
    'own markup with an allowed base',
    'POST',
    '/screenshots',
    { options: { ...own, html_base_url: url } },
    'OPTION_NOT_ALLOWED',
    'allow_own_content',
  ],
  ['own styles', 'POST', '/screenshots', { url, options: { style_urls: [url] } }, 'OPTION_NOT_ALLOWED', 'allow_own_content'],
  ['a script', 'POST', '/screenshots', { url, options: { scripts: 'a()' } }, 'OPTION_NOT_ALLOWED', 'allow_own_content'],
  ['an expression', 'POST', '/screenshots', { url, options: { wait_for_function: 'a()' } }, 'OPTION_NOT_ALLOWED', 'allow_own_content'],
  [
    'a proxy',
    'POST',
    '/screenshots',
    { url, options: { proxy: 'http://proxy.example.com:3128' } },
    'OPTION_NOT_ALLOWED',
    'allow_own_content',
  ],
  ['no checks of TLS', 'POST', '/screenshots', { url, options: { ignore_https_errors: true } }, 'OPTION_NOT_ALLOWED', 'allow_own_content'],
  ['one url of a batch', 'POST', '/screenshots/batch', { urls: [url, other] }, 'URL_NOT_ALLOWED', 'allowed_hosts'],
  [
    'a script in a batch',
    'POST',
    '/screenshots/batch',
    { urls: [url], options: { scripts: 'a()' } },
    'OPTION_NOT_ALLOWED',
    'allow_own_content',
  ],
  ['a schedule', 'POST', '/schedules', { schedule: '@hourly', url: other }, 'URL_NOT_ALLOWED', 'allowed_hosts'],
  [
    'a schedule with a script',
    'POST',
    '/schedules',
    { schedule: '@hourly', url, options: { scripts: 'a()' } },
    'OPTION_NOT_ALLOWED',
    'allow_own_content',
  ],
  ['GET /take', 'GET', `/take?url=${encodeURIComponent(other)}`, undefined, 'URL_NOT_ALLOWED', 'allowed_hosts'],
  ['own markup in GET /take', 'GET', '/take?html=a', undefined, 'OPTION_NOT_ALLOWED', 'allow_own_content'],
]

t.test(
  'a limited key captures nothing else, in whatever way: nothing is written, and the message names the key and the field',
  async (t) => {
    const { call, limited, storedThere } = aLimitedGateway()
    const before = storedThere()
    for (const [what, method, path, body, code, field] of waysAround) {
      const { status, body: refused } = await call(method, path, body, { ...limited.headers, 'idempotency-key': what })
      t.strictSame([status, refused?.error.code], [code === 'URL_NOT_ALLOWED' ? 400 : 403, code], what)
      t.match(refused.error.message, new RegExp(`${limited.id} .*${field} of capture_policy`), what)
    }
    t.strictSame(storedThere(), before)
    t.equal((await call('POST', '/screenshots', { url }, limited.headers)).status, 202, 'control')
    t.equal((await call('POST', '/screenshots', { url, options: { scripts: 'a()' } })).status, 202, 'control with another key')
  },
)

t.test('allowed_options limits options of every kind, implied ones too', async (t) => {
  const { call, limited, screenshots } = aLimitedGateway({ allowedOptions: ['viewportWidth'] })
  const refusedNames = async (path: string, body: object) => {
    const { body: refused } = await call('POST', path, body, limited.headers)
    return refused.error?.details.map(({ path }: { path: string }) => path)
  }
  t.strictSame(
    await refusedNames('/screenshots', { url, webhook_url: 'https://hooks.example/', options: { cache: true, headers: { a: 'b' } } }),
    ['options.headers', 'options.cache', 'options.webhook_url'],
  )
  const credentials = ['options.basic_auth_username', 'options.basic_auth_password']
  t.strictSame(await refusedNames('/screenshots', { url: 'https://ada:lovelace@example.com/' }), credentials)
  t.strictSame(await refusedNames('/videos', { url }), ['options.format'])
  t.strictSame(await refusedNames('/schedules', { schedule: '@hourly', url, comparison: {} }), ['options.compare_to'])
  t.equal(screenshots.objects.size, 0)
  t.equal((await call('POST', '/screenshots', { url, async: true, options: { viewport_width: 800 } }, limited.headers)).status, 202)
  t.equal(screenshots.specs[0]?.capturePolicy, undefined, 'a policy without hosts leaves nothing to the runner')
})

t.test('Screenshots keep the id of the key and its lists of hosts, those of other keys nothing', async (t) => {
  const { call, limited, screenshots } = aLimitedGateway({ allowedHosts: ['example.com'], allowedOptions: [] })
  await call('POST', '/screenshots', { url }, limited.headers)
  await call('POST', '/screenshots/batch', { urls: [url] }, limited.headers)
  await call('POST', '/screenshots', { url })
  const kept = { keyId: limited.id, allowedHosts: ['example.com'] }
  t.strictSame(
    screenshots.specs.map(({ capturePolicy }) => capturePolicy ?? null).sort((a) => (a ? -1 : 1)),
    [kept, kept, null],
  )
})

t.test('the hash of the cache depends on the lists of hosts, so a limited key gets no picture of another', async (t) => {
  const { call, limited, addKey, screenshots } = aLimitedGateway()
  const same = addKey({ capturePolicy: { allowedRequestHosts: ['*.example.com'], allowedHosts: ['example.com'] } })
  const requests = [undefined, limited.headers, same.headers]
  for (const headers of requests) await call('POST', '/screenshots', { url, options: { cache: true } }, headers)
  const hashOf = (keyId: string | undefined) => screenshots.specs.find(({ capturePolicy }) => capturePolicy?.keyId === keyId)?.cacheAs
  t.not(hashOf(limited.id), hashOf(undefined))
  t.equal(hashOf(same.id), hashOf(limited.id))
})

t.test('an Idempotency-Key gives a limited key no response of another key', async (t) => {
  const { call, limited, screenshots } = aLimitedGateway()
  const keyed = { 'idempotency-key': 'one' }
  const { id } = (await call('POST', '/screenshots', { url }, keyed)).body
  t.equal((await call('POST', '/screenshots', { url }, keyed)).body.id, id)
  t.match(await call('POST', '/screenshots', { url }, { ...limited.headers, ...keyed }), { status: 422 })
  t.equal(screenshots.objects.size, 1)
})

const narrow = { status: 403, body: { error: { code: 'POLICY_TOO_NARROW' } } }

t.test('a limited key makes, changes and rotates no wider key, and reads no link secret of one', async (t) => {
  const { call, limited, addKey, apiKeys, keyId } = aLimitedGateway()
  const wider = addKey({ capturePolicy: { allowedHosts: ['example.com', 'other.example'], allowedRequestHosts: ['*.example.com'] } })
  const before = apiKeys.objects
  const policyOf = (allowed_hosts: string[], more: object = {}) => ({ allowed_hosts, allowed_request_hosts: ['*.example.com'], ...more })
  const attempts: [string, string, unknown?][] = [
    ['POST', '/keys', { name: 'unlimited' }],
    ['POST', '/keys', { name: 'other', capture_policy: policyOf(['other.example']) }],
    ['POST', '/keys', { name: 'own content', capture_policy: policyOf(['example.com'], { allow_own_content: true }) }],
    ['POST', '/keys', { name: 'requests', capture_policy: { allowed_hosts: ['example.com'] } }],
    ['PATCH', `/keys/${limited.id}`, { capture_policy: null }],
    ['PATCH', `/keys/${limited.id}`, { capture_policy: { allowed_hosts: null } }],
    ['PUT', `/keys/${limited.id}`, { capture_policy: { allowed_hosts: ['example.com'] } }],
    ...[wider.id, keyId].flatMap((id): [string, string, unknown?][] => [
      ['PATCH', `/keys/${id}`, { name: 'renamed' }],
      ['PATCH', `/keys/${id}`, { capture_policy: policyOf(['example.com']) }],
      ['DELETE', `/keys/${id}`],
      ['POST', `/keys/${id}/rotate`],
      ['POST', `/keys/${id}/link-secret`],
      ['POST', `/keys/${id}/link-secret/rotate`],
    ]),
  ]
  for (const [method, path, body] of attempts)
    t.match(await call(method, path, body, limited.headers), narrow, `${method} ${path} ${JSON.stringify(body)}`)
  t.strictSame(apiKeys.objects, before)
  t.equal(
    (await call('POST', '/keys', { name: 'same', capture_policy: policyOf(['example.com']) }, limited.headers)).status,
    201,
    'control',
  )
  t.equal(
    (await call('POST', `/keys/${limited.id}/link-secret`, undefined, limited.headers)).body.data.link_secret,
    deriveLinkSecret(LINK_KEY, limited.id, 1),
  )
})

t.test('POST /keys/:id/check-url says whether the policy of a key allows a URL, and captures nothing', async (t) => {
  const { call, limited, keyId, storedThere } = aLimitedGateway()
  const before = storedThere()
  const check = async (id: string, url: string) => (await call('POST', `/keys/${id}/check-url`, { url })).body.data
  t.strictSame(await check(limited.id, url), { url, allowed: true, reason: null })
  t.match(await check(limited.id, other), {
    url: other,
    allowed: false,
    reason: new RegExp(`${limited.id} does not allow the host other.example`),
  })
  t.match(await check(keyId, other), { allowed: true })
  t.match(await call('POST', `/keys/${keyId}/check-url`, { url: 'about:blank' }), {
    status: 400,
    body: { error: { details: [{ path: 'url' }] } },
  })
  t.strictSame(storedThere(), before)
})

t.test('an account keeps a key without limits: its only one can neither be limited nor replaced by a limited one', async (t) => {
  const { call, keyId, addKey } = aGateway()
  addKey({ capturePolicy: { allowedHosts: ['example.com'] } })
  const last = { status: 409, body: { error: { code: 'LAST_API_KEY' } } }
  t.match(await call('PATCH', `/keys/${keyId}`, { capture_policy: { allowed_hosts: ['example.com'] } }), last)
  t.match(await call('DELETE', `/keys/${keyId}`), last)
  addKey()
  t.equal((await call('PATCH', `/keys/${keyId}`, { capture_policy: { allowed_hosts: ['example.com'] } })).status, 200)
})
