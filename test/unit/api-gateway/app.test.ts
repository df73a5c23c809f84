import t from 'tap'
import { unavailable } from '../../../api-gateway/src/common/errors.ts'
import { routes } from '../../../api-gateway/src/resources/all.ts'
import { newKeyText } from '../../../crds/src/crypto/api-keys.ts'
import { ALL_SCOPES, type ApiKeySpec, type Scope } from '../../../crds/src/kinds/api-key.ts'
import { aGateway, aScreenshot, SCREENSHOT_ID } from './fakes.ts'

const url = 'https://example.com/'

t.test('the app answers the status without a key, to any page', async (t) => {
  const { app } = aGateway()
  const response = await app.inject({ url: '/v1/status' })
  t.match(response.json(), { status: 'operational', version: /^\d+\.\d+\.\d+$/, uptime_seconds: 5 })
  t.equal(response.headers['access-control-allow-origin'], '*')
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
  const { call, screenshots } = aGateway()
  screenshots.page = () => {
    throw new Error('the password is hunter2')
  }
  const { status, body } = await call('GET', '/screenshots')
  t.equal(status, 500)
  const message = 'internal error: contact an administrator of this service with the request id'
  t.match(body, { success: false, error: { code: 'INTERNAL_ERROR', message } })
  t.notMatch(JSON.stringify(body), 'hunter2')
})

const noKey = { status: 401, code: 'UNAUTHORIZED', challenge: /^Bearer realm="api"$/ }
const invalid = { status: 401, code: 'INVALID_API_KEY', challenge: /error="invalid_token"/ }
const text = newKeyText()
const flipped = `${text.slice(0, 8)}${text[8] === 'a' ? 'b' : 'a'}${text.slice(9)}`

/** Headers that name no usable key. No key is looked up for texts that cannot be one. */
const headersOf: [what: string, authorization: string | undefined, refusal: typeof noKey][] = [
  ['no header', undefined, noKey],
  ['an empty header', '', noKey],
  ['no text', 'Bearer', noKey],
  ['a text alone', text, noKey],
  ['another scheme', `Basic ${text}`, noKey],
  ['two texts', `Bearer ${text} x`, noKey],
  ['a short text', 'Bearer ttk_short', invalid],
  ['another letter than its checksum says', `Bearer ${flipped}`, invalid],
  ['one letter more', `Bearer ${text}0`, invalid],
]
const shared = aGateway()
shared.keys.findByHash = async () => t.fail('a key is looked up') as never
for (const [what, authorization, { status, code, challenge }] of headersOf) {
  t.test(`an Authorization header with ${what} is ${code}`, async (t) => {
    const { app } = shared
    const response = await app.inject({ url: '/v1/screenshots', headers: authorization === undefined ? {} : { authorization } })
    t.match({ status: response.statusCode, body: response.json() }, { status, body: { success: false, error: { code } } })
    t.match(response.headers['www-authenticate'], challenge)
  })
}

t.test('an Authorization header is read in any case, with blanks around the text', async (t) => {
  const { app, key } = aGateway()
  for (const authorization of [`Bearer ${key}`, `bearer   ${key}`, `BEARER ${key} `])
    t.equal((await app.inject({ url: '/v1/screenshots', headers: { authorization } })).statusCode, 200, authorization.slice(0, 9))
})

const lacking = {
  status: 403,
  code: 'INSUFFICIENT_SCOPE',
  challenge: /^Bearer realm="api", error="insufficient_scope", scope="screenshots:write"$/,
}
const unusable: [what: string, spec: ApiKeySpec | undefined, refusal: typeof noKey][] = [
  ['a key that was never created', undefined, invalid],
  ['a key without an account', { accountName: 'nobody' }, invalid],
  ['a read-only key', { scopes: ['screenshots:read'] }, lacking],
  ['a key without scopes', { scopes: [] }, lacking],
  ['a suspended account', { accountName: 'stopped' }, { status: 403, code: 'ACCOUNT_SUSPENDED', challenge: /^$/ }],
]
for (const [what, spec, { status, code, challenge }] of unusable) {
  t.test(`POST /screenshots refuses ${what}`, async (t) => {
    const { call, addKey, putAccount, screenshots } = aGateway()
    putAccount({ suspended: true }, { name: 'stopped' })
    const headers = spec ? addKey(spec).headers : { authorization: `Bearer ${text}` }
    const response = await call('POST', '/screenshots', { url }, headers)
    t.match(response, { status, body: { success: false, error: { code } } })
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

/** It changes nothing. */
const READS = ['/keys/{id}/check-url']

t.test('every route accepts only keys with its scope', async (t) => {
  const { app, headers, apiKeys } = aGateway()
  const scoped = routes.filter(({ scope }) => scope !== undefined)
  t.ok(scoped.length > 30, `${scoped.length} routes`)
  for (const { method, path, scope } of scoped) {
    const url = `/v1${path.replaceAll(/\{\w+\}/g, 'x')}`
    const word = path.split('/')[1] ?? ''
    t.equal(scope, `${SCOPED_AS[word] ?? word}:${method === 'get' || READS.includes(path) ? 'read' : 'write'}`, `${method} ${path}`)
    const statusWith = async (scopes: readonly Scope[]) => {
      apiKeys.change(({ spec }) => (spec.scopes = [...scopes]))
      return (await app.inject({ method, url, headers })).statusCode
    }
    const own: (Scope | undefined)[] = [scope, ...(scope === 'admin:read' ? [] : ['*' as const])]
    t.equal(await statusWith(ALL_SCOPES.filter((other) => !own.includes(other))), 403, `${method} ${path} with all other scopes`)
    t.notOk([401, 403].includes(await statusWith([scope!])), `${method} ${path} with ${scope}`)
    t.equal((await app.inject({ method, url })).statusCode, 401, `${method} ${path} without a key`)
  }
})

t.test('the app asks clients to connect anew while it ends', async (t) => {
  const { call, draining } = aGateway()
  t.equal((await call('GET', '/screenshots')).headers.connection, 'keep-alive')
  draining.abort()
  t.equal((await call('GET', '/screenshots')).headers.connection, 'close')
})

t.test('POST /screenshots holds no longer than the process lives', async (t) => {
  const { call, draining, screenshots } = aGateway()
  const response = call('POST', '/screenshots', { url, async: false })
  setImmediate(() => draining.abort())
  t.equal((await response).status, 202)
  t.equal(screenshots.objects.size, 1)
})

const PATH = `/screenshots/${SCREENSHOT_ID}`
const completed = () => aScreenshot({ phase: 'Completed', status: { result: { etag: 'abc' } } })

/** A gateway with a completed screenshot, and the path of its link. */
async function withFile() {
  const gateway = aGateway()
  gateway.screenshots.put(completed())
  gateway.files.objects.set(`users/acme/${SCREENSHOT_ID}.png`, Buffer.from('picture'))
  const { pathname, search } = new URL((await gateway.call('GET', PATH)).body.download_url)
  return { ...gateway, read: () => gateway.app.inject({ url: pathname + search }) }
}

t.test('GET /screenshots/:id links to the public address, or to the host that was asked', async (t) => {
  for (const { publicUrl, headers = {}, base } of [
    { publicUrl: 'https://shots.example', base: 'https://shots.example/files/users/acme/' },
    { publicUrl: '', headers: { host: 'localhost:18080' }, base: 'http://localhost:18080/files/users/acme/' },
    { publicUrl: '', headers: { host: 'a.example', 'x-forwarded-proto': 'https' }, base: 'https://a.example/files/users/acme/' },
    { publicUrl: '', headers: { host: 'a.example/evil?' }, base: '/files/users/acme/' },
  ]) {
    const { call, screenshots } = aGateway({ publicUrl })
    screenshots.put(completed())
    t.equal((await call('GET', PATH, undefined, headers)).body.download_url.slice(0, base.length), base)
  }
})

t.test('GET /screenshots/:id keeps its ETag for one hour, as long as the link', async (t) => {
  let now = new Date('2026-11-21T10:00:01Z')
  const { call, screenshots } = aGateway({ now: () => now })
  screenshots.put(completed())
  const tag = async () => (await call('GET', PATH)).headers.etag
  const first = await tag()
  now = new Date('2026-11-21T10:59:59Z')
  t.equal(await tag(), first)
  now = new Date('2026-11-21T11:00:01Z')
  t.not(await tag(), first)
})

t.test('DELETE /screenshots/:id minds If-Match', async (t) => {
  const { call, screenshots, files } = aGateway()
  screenshots.put(aScreenshot({}))
  const { etag } = (await call('GET', PATH)).headers
  const remove = async (tag: string) => (await call('DELETE', PATH, undefined, { 'if-match': tag })).status
  t.equal(await remove('"other"'), 412)
  t.equal(files.objects.size, 0)
  t.equal(await remove(String(etag)), 204)
})

t.test('DELETE /screenshots/:id writes the tombstone first', async (t) => {
  const { call, screenshots, archive } = aGateway()
  screenshots.put(aScreenshot({}))
  archive.markDeleted = () => Promise.reject(new Error('away'))
  t.equal((await call('DELETE', PATH)).status, 500)
  t.equal(screenshots.objects.size, 1)
})

t.test('/files goes on with the signature and the bucket while the API server is away', async (t) => {
  const { screenshots, archive, read } = await withFile()
  screenshots.find = () => Promise.reject(unavailable('away'))
  t.equal((await read()).body, 'picture')
  await archive.markDeleted('acme', SCREENSHOT_ID)
  t.equal((await read()).statusCode, 404)
})

t.test('/files serves a link that another replica gave although its own copy still says pending', async (t) => {
  const { screenshots, read } = await withFile()
  screenshots.find = async () => aScreenshot({})
  t.equal((await read()).body, 'picture')
})
