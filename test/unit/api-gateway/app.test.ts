import t from 'tap'
import { unavailable } from '../../../api-gateway/src/common/errors.ts'
import { routes } from '../../../api-gateway/src/resources/all.ts'
import { newKeyText } from '../../../crds/src/crypto/key-text.ts'
import { ALL_SCOPES, type ApiKeySpec, type Scope } from '../../../crds/src/kinds/api-key.ts'
import { aGateway, anApiKey, aScreenshot, NOW, SCREENSHOT_ID } from './fakes.ts'

const url = 'https://example.com/'

t.test('the app serves the same routes under /v1 and /api/v1', async (t) => {
  const { app, headers } = aGateway()
  for (const prefix of ['/v1', '/api/v1']) {
    t.equal((await app.inject({ url: `${prefix}/screenshots`, headers })).statusCode, 200)
    t.equal((await app.inject({ url: `${prefix}/status` })).statusCode, 200)
  }
})

t.test('the app answers the status without a key, to any page', async (t) => {
  const { app } = aGateway()
  const response = await app.inject({ url: '/v1/status' })
  t.match(response.json(), { status: 'operational', version: /^\d+\.\d+\.\d+$/, uptime_seconds: 5 })
  t.equal(response.headers['access-control-allow-origin'], '*')
})

t.test('the app opens nothing else to other pages', async (t) => {
  const { app, headers } = aGateway()
  const response = await app.inject({ url: '/v1/screenshots', headers: { ...headers, origin: 'https://evil.example' } })
  t.equal(response.headers['access-control-allow-origin'], undefined)
})

t.test('the app keeps a client’s request id when it is harmless, and makes one otherwise', async (t) => {
  const { app } = aGateway()
  const kept = await app.inject({ url: '/v1/nothing', headers: { 'x-request-id': 'abc-123' } })
  t.equal(kept.headers['x-request-id'], 'abc-123')
  t.equal(kept.json().error.request_id, 'abc-123')
  const replaced = await app.inject({ url: '/v1/nothing', headers: { 'x-request-id': 'a b' } })
  t.match(replaced.headers['x-request-id'], /^[0-9a-f-]{36}$/)
})

t.test('the app never tells what went wrong inside', async (t) => {
  const { app, headers } = aGateway({
    screenshots: Object.assign(aGateway().screenshots, {
      page: () => {
        throw new Error('the password is hunter2')
      },
    }),
  })
  const response = await app.inject({ url: '/v1/screenshots', headers })
  t.equal(response.statusCode, 500)
  t.match(response.json(), {
    success: false,
    error: { code: 'INTERNAL_ERROR', message: 'internal error: contact an administrator of this service with the request id' },
  })
  t.notMatch(response.body, 'hunter2')
})

t.test('the app refuses a wrong method before it reads the body', async (t) => {
  const { app } = aGateway()
  const response = await app.inject({
    method: 'PUT',
    url: '/v1/screenshots',
    payload: '{',
    headers: { 'content-type': 'application/json' },
  })
  t.equal(response.statusCode, 405)
  t.equal(response.headers.allow, 'GET, HEAD, OPTIONS, POST')
})

t.test('the app checks the key before it reads the body', async (t) => {
  const { app } = aGateway()
  const response = await app.inject({
    method: 'POST',
    url: '/v1/screenshots',
    payload: '{',
    headers: { 'content-type': 'application/json' },
  })
  t.equal(response.statusCode, 401)
})

const invalid = { status: 401, code: 'INVALID_API_KEY', challenge: /invalid_token/ }
const credentials: { name: string; authorization?: string; spec?: ApiKeySpec; status: number; code: string; challenge: RegExp }[] = [
  { name: 'no key', status: 401, code: 'UNAUTHORIZED', challenge: /^Bearer realm="api"$/ },
  { name: 'another scheme', authorization: 'Basic eDp5', status: 401, code: 'UNAUTHORIZED', challenge: /^Bearer realm="api"$/ },
  { name: 'a key that was never created', authorization: `Bearer ${newKeyText()}`, ...invalid },
  { name: 'an inactive key', spec: { accountName: 'acme', active: false }, ...invalid },
  { name: 'an expired key', spec: { accountName: 'acme', expiryTime: NOW.toISOString() }, ...invalid },
  { name: 'a key without an account', spec: { accountName: 'nobody' }, ...invalid },
  {
    name: 'a read-only key',
    spec: { accountName: 'acme', scopes: ['screenshots:read'] },
    ...{ status: 403, code: 'INSUFFICIENT_SCOPE', challenge: /scope="screenshots:write"/ },
  },
  { name: 'a suspended account', spec: { accountName: 'stopped' }, status: 403, code: 'ACCOUNT_SUSPENDED', challenge: /^$/ },
]
for (const { name, authorization, spec, status, code, challenge } of credentials) {
  t.test(`POST /screenshots refuses ${name}`, async (t) => {
    const { app, keys, screenshots } = aGateway()
    keys.accounts.set('stopped', { ...keys.accounts.get('acme')!, spec: { plan: 'scale', suspended: true } })
    const text = newKeyText()
    if (spec) keys.keys.push(anApiKey(text, spec, 'key-2'))
    const headers = spec ? { authorization: `Bearer ${text}` } : authorization === undefined ? {} : { authorization }
    const response = await app.inject({ method: 'POST', url: '/v1/screenshots', headers, payload: { url } })
    t.match({ status: response.statusCode, body: response.json() }, { status, body: { success: false, error: { code } } })
    t.match(response.headers['www-authenticate'] ?? '', challenge)
    t.equal(screenshots.objects.size, 0)
  })
}

/** Scopes of paths that differ from their first word. */
const SCOPED_AS: Readonly<Record<string, string>> = {
  videos: 'screenshots',
  batches: 'screenshots',
  devices: 'screenshots',
  system: 'admin',
}

t.test('every route accepts only keys with its scope', async (t) => {
  const { app, headers, keys } = aGateway()
  const scoped = routes.filter(({ scope }) => scope !== undefined)
  t.ok(scoped.length > 30, `${scoped.length} routes`)
  for (const { method, path, scope } of scoped) {
    const url = `/v1${path.replaceAll(/\{\w+\}/g, 'x')}`
    const word = path.split('/')[1] ?? ''
    t.equal(scope, `${SCOPED_AS[word] ?? word}:${method === 'get' ? 'read' : 'write'}`, `${method} ${path}`)
    const statusWith = async (scopes: readonly Scope[]) => {
      keys.keys[0]!.spec.scopes = [...scopes]
      return (await app.inject({ method, url, headers })).statusCode
    }
    const own: (Scope | undefined)[] = [scope, ...(scope === 'admin:read' ? [] : ['*' as const])]
    t.equal(await statusWith(ALL_SCOPES.filter((other) => !own.includes(other))), 403, `${method} ${path} with all other scopes`)
    t.notOk([401, 403].includes(await statusWith([scope!])), `${method} ${path} with ${scope}`)
    t.equal((await app.inject({ method, url })).statusCode, 401, `${method} ${path} without a key`)
  }
})

t.test('the app asks clients to connect anew while it ends', async (t) => {
  const { app, headers, draining } = aGateway()
  t.equal((await app.inject({ url: '/v1/screenshots', headers })).headers.connection, 'keep-alive')
  draining.abort()
  t.equal((await app.inject({ url: '/v1/screenshots', headers })).headers.connection, 'close')
})

t.test('POST /screenshots holds no longer than the process lives', async (t) => {
  const { app, headers, draining, screenshots } = aGateway()
  const response = app.inject({ method: 'POST', url: '/v1/screenshots', payload: { url, async: false }, headers })
  setImmediate(() => draining.abort())
  t.equal((await response).statusCode, 202)
  t.equal(screenshots.objects.size, 1)
})

t.test('POST /screenshots with response_type empty returns only the Location of the record', async (t) => {
  const { app, headers, screenshots } = aGateway()
  const create = screenshots.create.bind(screenshots)
  screenshots.create = async (shot) => {
    const created = await create(shot)
    return screenshots.put({ ...created, status: { phase: 'Completed', result: { etag: 'abc' } } })
  }
  const payload = { url, async: false, response_type: 'empty' }
  const response = await app.inject({ method: 'POST', url: '/v1/screenshots', payload, headers })
  t.equal(response.statusCode, 204)
  t.equal(response.body, '')
  t.match(response.headers.location, /^\/api\/v1\/screenshots\/scr_/)
})

t.test('GET /screenshots/:id links to the public address, or to the host that was asked', async (t) => {
  const stored = aScreenshot({ phase: 'Completed', status: { result: { etag: 'abc' } } })
  for (const { publicUrl, headers: more, base } of [
    { publicUrl: 'https://shots.example', headers: {}, base: 'https://shots.example/files/users/acme/' },
    { publicUrl: '', headers: { host: 'localhost:18080' }, base: 'http://localhost:18080/files/users/acme/' },
    { publicUrl: '', headers: { host: 'a.example', 'x-forwarded-proto': 'https' }, base: 'https://a.example/files/users/acme/' },
    { publicUrl: '', headers: { host: 'a.example/evil?' }, base: '/files/users/acme/' },
  ]) {
    const { app, headers, screenshots } = aGateway({ publicUrl })
    screenshots.put(stored)
    const { download_url: link } = (await app.inject({ url: `/v1/screenshots/${SCREENSHOT_ID}`, headers: { ...headers, ...more } })).json()
    t.equal(link.slice(0, base.length), base)
  }
})

t.test('GET /screenshots/:id keeps its ETag for one hour, as long as the link', async (t) => {
  let now = new Date('2026-11-21T10:00:01Z')
  const { app, headers, screenshots } = aGateway({ now: () => now })
  screenshots.put(aScreenshot({ phase: 'Completed', status: { result: { etag: 'abc' } } }))
  const tag = async () => (await app.inject({ url: `/v1/screenshots/${SCREENSHOT_ID}`, headers })).headers.etag
  const first = await tag()
  now = new Date('2026-11-21T10:59:59Z')
  t.equal(await tag(), first)
  now = new Date('2026-11-21T11:00:01Z')
  t.not(await tag(), first)
})

t.test('DELETE /screenshots/:id minds If-Match', async (t) => {
  const { app, headers, screenshots, files } = aGateway()
  screenshots.put(aScreenshot({}))
  const { etag } = (await app.inject({ url: `/v1/screenshots/${SCREENSHOT_ID}`, headers })).headers
  const remove = (tag: string) =>
    app.inject({ method: 'DELETE', url: `/v1/screenshots/${SCREENSHOT_ID}`, headers: { ...headers, 'if-match': tag } })
  const refused = await remove('"other"')
  t.equal(refused.statusCode, 412)
  t.equal(files.objects.size, 0)
  t.equal((await remove(String(etag))).statusCode, 204)
})

t.test('DELETE /screenshots/:id writes the tombstone first', async (t) => {
  const { app, headers, screenshots, archive } = aGateway()
  screenshots.put(aScreenshot({}))
  archive.markDeleted = async () => {
    throw new Error('away')
  }
  t.equal((await app.inject({ method: 'DELETE', url: `/v1/screenshots/${SCREENSHOT_ID}`, headers })).statusCode, 500)
  t.equal(screenshots.objects.size, 1)
})

t.test('/files goes on with the signature and the bucket while the API server is away', async (t) => {
  const { app, headers, screenshots, files, archive } = aGateway()
  screenshots.put(aScreenshot({ phase: 'Completed', status: { result: { etag: 'abc' } } }))
  files.objects.set(`users/acme/${SCREENSHOT_ID}.png`, Buffer.from('picture'))
  const { download_url: link } = (await app.inject({ url: `/v1/screenshots/${SCREENSHOT_ID}`, headers })).json()
  const { pathname, search } = new URL(link)
  screenshots.find = async () => {
    throw unavailable('away')
  }
  t.equal((await app.inject({ url: pathname + search })).body, 'picture')
  await archive.markDeleted('acme', SCREENSHOT_ID)
  t.equal((await app.inject({ url: pathname + search })).statusCode, 404)
})

t.test('/files serves a link that another replica gave although its own copy still says pending', async (t) => {
  const { app, headers, screenshots, files } = aGateway()
  const pending = screenshots.put(aScreenshot({}))
  screenshots.put(aScreenshot({ phase: 'Completed', status: { result: { etag: 'abc' } } }))
  files.objects.set(`users/acme/${SCREENSHOT_ID}.png`, Buffer.from('picture'))
  const { download_url: link } = (await app.inject({ url: `/v1/screenshots/${SCREENSHOT_ID}`, headers })).json()
  const { pathname, search } = new URL(link)
  screenshots.find = async () => pending
  t.equal((await app.inject({ url: pathname + search })).body, 'picture')
})
