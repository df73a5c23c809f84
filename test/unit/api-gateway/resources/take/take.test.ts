import t from 'tap'
import type { ApiKeySpec } from '../../../../../crds/src/kinds/api-key.ts'
import { NOW } from '../../fakes.ts'
import { aTakeGateway, PAGE, PICTURE, storedIn } from './take-gateway.ts'

const seconds = (count: number): number => Math.floor(NOW.getTime() / 1_000) + count

const QUOTA_HEADERS = ['x-quota-limit', 'ratelimit', 'x-ratelimit-limit']

t.test('GET /take captures the page, and responds with the picture', async (t) => {
  const gateway = aTakeGateway()
  const response = await gateway.capture(gateway.sign(`${PAGE}&viewport_width=1200&full_page=true`))
  t.match(response, { statusCode: 200, headers: { 'content-type': 'image/png', etag: '"abc"', age: '0' } })
  t.strictSame(response.rawPayload, PICTURE)
  t.equal(response.headers['cache-control'], 'public, max-age=86400, stale-while-revalidate=86400')
  const { spec } = await gateway.created()
  t.match(spec, { url: 'https://example.com/', accountName: 'acme', options: { viewportWidth: 1200, fullPage: true } })
  t.ok(spec.cacheAs)
  t.ok(gateway.keys.noted.has('key-1'), 'a capture is a use of the key')
})

t.test('GET /take of a cached picture writes nothing, and has no quota headers', async (t) => {
  const gateway = aTakeGateway()
  const link = gateway.sign(PAGE)
  await gateway.capture(link)
  gateway.later(3_600)
  const before = storedIn(gateway)
  gateway.keys.noted.clear()
  const response = await gateway.get(link)
  t.match(response, { statusCode: 200, headers: { age: '3600', 'last-modified': NOW.toUTCString() } })
  t.equal(response.headers['cache-control'], 'public, max-age=86400, stale-while-revalidate=86400')
  t.strictSame(response.rawPayload, PICTURE)
  t.strictSame((await gateway.get(link, { headers: { 'if-none-match': '"abc"' } })).statusCode, 304)
  t.equal((await gateway.get(link, { headers: { 'if-modified-since': NOW.toUTCString() } })).statusCode, 304)
  const head = await gateway.get(link, { method: 'HEAD' })
  t.match(head, { statusCode: 200, headers: { 'content-length': String(PICTURE.length), age: '3600' } })
  t.equal(head.payload, '')
  t.strictSame(storedIn(gateway), before)
  t.equal(gateway.keys.noted.size, 0)
  t.notOk(QUOTA_HEADERS.some((name) => name in response.headers))
})

t.test('GET /take lets no cache keep the picture longer than the link is valid', async (t) => {
  const gateway = aTakeGateway()
  const link = gateway.sign(`${PAGE}&expires=${seconds(600)}`)
  const response = await gateway.capture(link)
  t.equal(response.headers['cache-control'], 'public, max-age=599, stale-while-revalidate=0')
  gateway.later(300)
  const { headers } = await gateway.get(link)
  t.match(headers, { age: '300', 'cache-control': 'public, max-age=299, stale-while-revalidate=0' }, 'also for caches that ignore Age')
})

t.test('GET /take with an API key needs no signature, and the response is private', async (t) => {
  const gateway = aTakeGateway()
  await gateway.capture(gateway.sign(PAGE))
  const response = await gateway.get(PAGE, { headers: gateway.headers })
  t.match(response, { statusCode: 200, headers: { 'cache-control': 'private, no-store' } })
})

t.test('GET /take shares the cache with POST /screenshots', async (t) => {
  const gateway = aTakeGateway()
  const body = { url: 'https://example.com/', options: { cache: true } }
  await gateway.app.inject({ method: 'POST', url: '/v1/screenshots', headers: gateway.headers, payload: body })
  gateway.complete(await gateway.created())
  t.equal((await gateway.get(gateway.sign(PAGE))).statusCode, 200)
  t.equal(gateway.screenshots.objects.size, 1)
})

t.test('GET /take refuses links without a valid signature', async (t) => {
  const gateway = aTakeGateway()
  const link = gateway.sign(PAGE)
  const cases: [query: string, status: number, code: string][] = [
    [PAGE, 401, 'UNAUTHORIZED'],
    [`${PAGE}&key=${gateway.keyId}`, 401, 'UNAUTHORIZED'],
    [`${link}&viewport_width=100`, 403, 'LINK_INVALID'],
    [link.slice(0, -1), 403, 'LINK_INVALID'],
    [link.replace(gateway.keyId, 'key_00000000000000000000000000'), 401, 'INVALID_API_KEY'],
    [gateway.sign(`${PAGE}&expires=${seconds(0)}`), 403, 'LINK_INVALID'],
    [gateway.sign(`${PAGE}&expires=soon`), 400, 'VALIDATION_ERROR'],
  ]
  for (const [query, status, code] of cases) {
    const response = await gateway.get(query)
    t.match({ status: response.statusCode, body: response.json() }, { status, body: { error: { code } } }, query)
  }
  t.equal(gateway.screenshots.objects.size, 0)
})

t.test('pages of other origins may show pictures of links, also redirects and pictures of errors', async (t) => {
  const gateway = aTakeGateway()
  const allowed = { 'cross-origin-resource-policy': 'cross-origin' }
  t.match((await gateway.capture(gateway.sign(PAGE))).headers, allowed)
  t.match((await gateway.get(`${PAGE}&on_error=image`)).headers, { ...allowed, 'content-type': 'image/png' })
})

t.test('a signed link that was copied from HTML works with &amp; in place of &, and only with its own signature', async (t) => {
  const gateway = aTakeGateway()
  const link = gateway.sign(`${PAGE}&full_page=true&hide_selectors=p&hide_selectors=%26amp%3B`)
  t.equal((await gateway.capture(link)).statusCode, 200)
  const copied = link.replaceAll('&', '&amp;')
  for (const form of [copied, link.replaceAll('&', '&amp;amp;'), link.replaceAll('&', '&AMP;'), `${copied}&amp;utm_source=mail`]) {
    t.equal((await gateway.get(form)).statusCode, 200, form)
  }
  t.equal((await gateway.get(copied.replace('full_page=true', 'full_page=false'))).statusCode, 403)
  t.equal((await gateway.get(`${copied}&amp;delay=1`)).statusCode, 403)
  t.equal((await gateway.get(`${link}&amplitude=1`)).statusCode, 400)
})

type Gateway = ReturnType<typeof aTakeGateway>

/** Changes the key of a gateway. */
const changing =
  (spec: ApiKeySpec, metadata: { deletionTimestamp?: string } = {}) =>
  ({ apiKeys }: Gateway) =>
    apiKeys.change((key) => Object.assign(key, { spec: { ...key.spec, ...spec }, metadata: { ...key.metadata, ...metadata } }))

/** Changes after which a key, its account or the time permits no captures and no pictures. */
const endings: [what: string, code: string, change: (gateway: Gateway) => void][] = [
  ['an inactive key', 'INVALID_API_KEY', changing({ active: false })],
  ['an expired key', 'INVALID_API_KEY', changing({ expiryTime: NOW.toISOString() })],
  ['a key without the scope', 'INSUFFICIENT_SCOPE', changing({ scopes: ['screenshots:read'] })],
  ['a key for other hosts', 'URL_NOT_ALLOWED', changing({ linkPolicy: { allowedHosts: ['other.example'] } })],
  ['a deleted key that a finalizer keeps', 'INVALID_API_KEY', changing({}, { deletionTimestamp: 'now' })],
  ['a deleted key', 'INVALID_API_KEY', ({ apiKeys }) => apiKeys.remove(apiKeys.objects[0]!)],
  ['a suspended account', 'ACCOUNT_SUSPENDED', ({ putAccount }) => putAccount({ suspended: true })],
  ['a deleted account that a finalizer keeps', 'INVALID_API_KEY', ({ putAccount }) => putAccount({}, { deletionTimestamp: 'now' })],
  ['an end of the link', 'LINK_INVALID', ({ later }) => later(1)],
]
for (const [what, code, change] of endings) {
  t.test(`GET /take refuses links after ${what}, also of a picture in memory`, async (t) => {
    const gateway = aTakeGateway()
    const link = gateway.sign(`${PAGE}&expires=${seconds(1)}`)
    const other = gateway.sign(`${PAGE}&delay=1&expires=${seconds(1)}`)
    t.equal((await gateway.capture(link)).statusCode, 200, 'control')
    change(gateway)
    t.strictSame([(await gateway.get(link)).json().error.code, (await gateway.get(other)).json().error.code], [code, code])
    t.equal(gateway.screenshots.objects.size, 1)
  })
}

t.test('GET /take refuses what links must not have', async (t) => {
  const gateway = aTakeGateway()
  const cases: [query: string, status: number, code: string, path: string][] = [
    [`${PAGE}&viewport_widht=1`, 400, 'VALIDATION_ERROR', 'viewport_widht'],
    [`${PAGE}&${PAGE}`, 400, 'VALIDATION_ERROR', 'url'],
    [`${PAGE}&delay=soon`, 400, 'VALIDATION_ERROR', 'delay'],
    [`${PAGE}&cache_ttl=59`, 400, 'VALIDATION_ERROR', 'cache_ttl'],
    [`${PAGE}&html=a`, 400, 'VALIDATION_ERROR', 'url'],
    ['full_page=true', 400, 'VALIDATION_ERROR', 'url'],
    ['url=http%3A%2F%2F127.0.0.1%2F', 400, 'URL_NOT_ALLOWED', 'url'],
    ['url=https%3A%2F%2Fuser%3Apassword%40example.com', 403, 'OPTION_NOT_ALLOWED', 'url'],
    [`${PAGE}&authorization=Bearer+a`, 403, 'OPTION_NOT_ALLOWED', 'authorization'],
    [`${PAGE}&cache=false`, 403, 'OPTION_NOT_ALLOWED', 'cache'],
    [`${PAGE}&cache_refresh=true`, 403, 'OPTION_NOT_ALLOWED', 'cache_refresh'],
  ]
  for (const [query, status, code, path] of cases) {
    const response = await gateway.get(gateway.sign(query))
    t.match({ status: response.statusCode, body: response.json() }, { status, body: { error: { code, details: [{ path }] } } }, query)
    t.equal(response.headers['cache-control'], 'no-store')
  }
  t.equal(gateway.screenshots.objects.size, 0)
})

t.test('GET /take obeys the link policy of the key, also after redirects', async (t) => {
  const gateway = aTakeGateway()
  changing({ linkPolicy: { allowedHosts: ['example.com'], allowedOptions: ['format'] } })(gateway)
  const refused = async (query: string) => (await gateway.get(gateway.sign(query))).json().error.code
  t.equal(await refused('url=https%3A%2F%2Fother.example'), 'URL_NOT_ALLOWED')
  t.equal(await refused(`${PAGE}&full_page=true`), 'OPTION_NOT_ALLOWED')
  t.equal(gateway.screenshots.objects.size, 0)
  const response = await gateway.capture(gateway.sign(`${PAGE}&format=webp`), 'https://other.example/')
  t.match(response, { statusCode: 400, headers: { 'cache-control': 'no-store' } })
  t.equal(await refused(`${PAGE}&format=webp`), 'URL_NOT_ALLOWED')
  t.equal(gateway.screenshots.objects.size, 1, 'the page is not captured again')
})

t.test('a link shows its own text under a host that the link policy allows', async (t) => {
  const gateway = aTakeGateway()
  changing({ linkPolicy: { allowedHosts: ['example.com'] } })(gateway)
  const response = await gateway.get(gateway.sign('html=Pay%20here&html_base_url=https%3A%2F%2Fexample.com%2F'))
  const details = [{ path: 'html', message: /allow_own_markup/ }]
  t.match([response.statusCode, response.json()], [403, { error: { code: 'OPTION_NOT_ALLOWED', details } }])
  t.equal(gateway.screenshots.objects.size, 0)
})

t.test('GET /take captures own markup if the link policy allows it, and then no other host either', async (t) => {
  const gateway = aTakeGateway()
  changing({ linkPolicy: { allowedHosts: ['example.com'], allowOwnMarkup: true } })(gateway)
  t.equal((await gateway.capture(gateway.sign('html=a'), 'about:html')).statusCode, 200, 'without a base URL')
  const base = (host: string) => gateway.sign(`html=b&html_base_url=https%3A%2F%2F${host}%2F`)
  t.equal((await gateway.get(base('other.example'))).json().error.code, 'URL_NOT_ALLOWED')
  const left = await gateway.capture(base('example.com'), 'https://other.example/')
  t.match(left.json(), { error: { code: 'URL_NOT_ALLOWED' } }, 'a page that navigates to another host')
})

t.test('GET /take obeys the capture policy of the key, and a link obeys the link policy too', async (t) => {
  const gateway = aTakeGateway()
  const capturePolicy = { allowedHosts: ['example.com', 'example.org'], allowedRequestHosts: ['*.example.com'] }
  changing({ capturePolicy, linkPolicy: { allowedHosts: ['example.com', 'other.example'], allowOwnMarkup: true } })(gateway)
  const pageOf = (host: string) => `url=https%3A%2F%2F${host}%2F`
  const refusal = async (query: string, headers?: Record<string, string>) => {
    const { error } = (await gateway.get(query, headers ? { headers } : {})).json()
    return [error.code, error.details.map(({ message }: { message: string }) => /(link|capture) policy/.exec(message)?.[1])]
  }
  t.strictSame(await refusal(gateway.sign(pageOf('other.example'))), ['URL_NOT_ALLOWED', ['capture']])
  t.strictSame(await refusal(gateway.sign(pageOf('example.org'))), ['URL_NOT_ALLOWED', ['link']])
  t.strictSame(await refusal(gateway.sign('html=a')), ['OPTION_NOT_ALLOWED', ['capture']])
  t.strictSame(await refusal(pageOf('other.example'), gateway.headers), ['URL_NOT_ALLOWED', ['capture']])
  t.equal(gateway.screenshots.objects.size, 0)
  const response = await gateway.capture(gateway.sign(PAGE), 'https://other.example/')
  t.match(response.json(), { error: { code: 'URL_NOT_ALLOWED', message: /the final url/ } })
  t.strictSame(gateway.screenshots.specs[0]?.capturePolicy, { keyId: gateway.keyId, ...capturePolicy })
})

t.test('a limited key gets neither the cached picture of another key nor its running capture', async (t) => {
  const gateway = aTakeGateway()
  const { headers } = gateway.addKey({ capturePolicy: { allowedHosts: ['example.com'] } })
  await gateway.capture(gateway.sign(PAGE))
  const own = gateway.get(PAGE, { headers })
  gateway.complete(await gateway.created(2))
  t.equal((await own).statusCode, 200)
  const running = gateway.get(gateway.sign(`${PAGE}&delay=1`))
  const third = await gateway.created(3)
  const limited = gateway.get(`${PAGE}&delay=1`, { headers })
  const fourth = await gateway.created(4)
  for (const shot of [third, fourth]) gateway.complete(shot)
  t.strictSame([(await running).statusCode, (await limited).statusCode], [200, 200])
})

t.test('GET /take has a rate limit of its own', async (t) => {
  const gateway = aTakeGateway({ callsPerMinute: { read: 1, management: 1, link: 2 } })
  const link = gateway.sign(PAGE)
  await gateway.capture(link)
  t.equal((await gateway.get(link)).statusCode, 200)
  t.match(await gateway.get(link), { statusCode: 429, headers: { 'retry-after': /\d+/ } })
})
