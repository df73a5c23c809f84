import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import t from 'tap'
import { openConsoleFiles } from '../../../../api-gateway/src/console/files.ts'
import { CODE_MILLISECONDS, SESSION_MILLISECONDS } from '../../../../api-gateway/src/console/sessions.ts'
import { newKeyText } from '../../../../crds/src/crypto/api-keys.ts'
import { newId } from '../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { Metadata } from '../../../../crds/src/schema/custom-resource.ts'
import { createDirectory } from '../../../support/directory.ts'
import { aGateway, NOW, TestKeys } from '../fakes.ts'

// The console's routes over stores in memory. The page and one asset stand in for the built files.

const directory = await createDirectory(t, 'console')
const SCRIPT = 'console.log(1)\n'.repeat(100)
await mkdir(path.join(directory, 'assets'))
await writeFile(path.join(directory, 'index.html'), '<!doctype html><title>Tintype</title>')
await writeFile(path.join(directory, 'assets/app-1.js'), SCRIPT)
await writeFile(path.join(directory, 'assets/app-1.js.br'), brotliCompressSync(SCRIPT))
const files = await openConsoleFiles(directory)

const BROWSER = 'text/html,application/xhtml+xml,*/*;q=0.8'
const own = { 'x-tintype-console': '1', 'sec-fetch-site': 'same-origin' }

function aConsole(changes: Parameters<typeof aGateway>[0] = {}) {
  let now = NOW
  const gateway = aGateway({ console: files, now: () => now, ...changes })
  const pass = (milliseconds: number) => {
    now = new Date(now.getTime() + milliseconds)
  }
  const send = (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'OPTIONS',
    url: string,
    headers: Record<string, string> = {},
    payload?: object,
  ) => gateway.app.inject({ method, url, headers, ...(payload ? { payload } : {}) })
  const signIn = (payload: object = { api_key: gateway.key }, headers: Record<string, string> = own) =>
    send('POST', '/console/session', headers, payload)
  /** The headers of requests of the signed-in console. */
  const session = async (more: Record<string, string> = {}, payload?: object) => {
    const headers = { ...own, ...more }
    const cookie = String((await signIn(payload, headers)).headers['set-cookie']).split(';')[0]!
    return { ...headers, cookie }
  }
  /** Status of a request of the signed-in console. */
  const statusOf = async (headers: Record<string, string>) => (await send('GET', '/api/v1/usage/current', headers)).statusCode
  /** Whose session the console has. */
  const whoIs = async (headers: Record<string, string>) => (await send('GET', '/console/session', headers)).json().data
  const issue = async () => (await send('POST', '/console/codes', gateway.headers)).json().data
  const issueCode = async (): Promise<string> => (await issue()).code
  const describe = (code: unknown, headers: Record<string, string> = own) => send('POST', '/console/codes/describe', headers, { code })
  return { ...gateway, pass, send, signIn, session, statusOf, whoIs, issue, issueCode, describe }
}

t.test('/console leads to the page, with and without a slash', async (t) => {
  const { send } = aConsole()
  for (const url of ['/console', '/console/']) {
    const { statusCode, headers } = await send('GET', url)
    t.equal(statusCode, 302)
    t.equal(new URL(String(headers.location), `https://tintype.example${url}`).pathname, '/', url)
  }
})

t.test('GET / serves the page to browsers, with a strict policy, and an index to programs', async (t) => {
  const { send } = aConsole({ storeOrigin: 'https://files.example:9000' })
  const page = await send('GET', '/', { accept: BROWSER })
  t.match(page.body, /<title>Tintype/)
  t.match(page.headers, { 'cache-control': 'no-cache', vary: 'accept', 'content-type': 'text/html; charset=utf-8' })
  const policy = String(page.headers['content-security-policy'])
  t.notMatch(policy, /unsafe/)
  t.match(policy, "script-src 'self';")
  t.match(policy, "img-src 'self' https://files.example:9000 blob: data:;")
  t.match(policy, "media-src 'self' https://files.example:9000;")
  t.equal((await send('GET', '/', { accept: BROWSER, 'if-none-match': String(page.headers.etag) })).statusCode, 304)
  for (const headers of [{ accept: '*/*' }, { accept: 'application/json' }, undefined])
    t.match((await send('GET', '/', headers)).json(), { name: 'Tintype', links: { openapi: '/api/v1/openapi.json' } })
})

t.test('GET /console/assets serves files with the encoding that the client accepts, and no others', async (t) => {
  const { send } = aConsole()
  const small = await send('GET', '/console/assets/app-1.js', { 'accept-encoding': 'gzip, br' })
  t.equal(small.headers['content-encoding'], 'br')
  t.equal(brotliDecompressSync(small.rawPayload).toString(), SCRIPT)
  t.match(small.headers, { 'cache-control': /immutable/, 'content-type': /javascript/, vary: 'accept-encoding' })
  t.equal((await send('GET', '/console/assets/app-1.js')).body, SCRIPT)
  for (const name of ['app-2.js', 'app-1.js.br', '..%2Findex.html', '%2e%2e%2findex.html', '__proto__'])
    t.equal((await send('GET', `/console/assets/${name}`)).statusCode, 404, name)
})

t.test('without a console, none of its routes exists', async (t) => {
  const { app, key } = aGateway()
  for (const [method, url] of [
    ['GET', '/'],
    ['GET', '/console/session'],
    ['POST', '/console/session'],
    ['POST', '/console/codes'],
    ['POST', '/console/codes/describe'],
    ['GET', '/console/assets/app-1.js'],
  ] as const)
    t.equal((await app.inject({ method, url, headers: { ...own, authorization: `Bearer ${key}`, accept: BROWSER } })).statusCode, 404, url)
})

t.test('an API key begins a session that reads the API as the key does', async (t) => {
  const { signIn, session, send, statusOf, whoIs, keys, keyId, addKey } = aConsole()
  const begun = await signIn()
  t.equal(begun.statusCode, 200)
  t.match(String(begun.headers['set-cookie']), /^tintype-session=[^;]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/)
  t.match(begun.json(), { data: { account: 'acme', key: { id: keyId, scopes: ['*'] } } })
  const headers = await session()
  const expires_at = new Date(NOW.getTime() + SESSION_MILLISECONDS).toISOString()
  t.match(await whoIs(headers), { account: 'acme', expires_at })
  t.equal(await statusOf(headers), 200)
  t.ok(keys.noted.size > 0, 'the use of the key is recorded')
  const limited = await session({}, { api_key: addKey({ scopes: ['screenshots:read'] }).text })
  t.equal(await statusOf(limited), 403, 'the scopes are its own')
  const policed = await session({}, { api_key: addKey({ capturePolicy: { allowedHosts: ['example.com'] } }).text })
  const capture = async (url: string) => (await send('POST', '/api/v1/screenshots', policed, { url })).json().error?.code
  t.strictSame(
    [await capture('https://other.example/'), await capture('https://example.com/')],
    ['URL_NOT_ALLOWED', undefined],
    'the capture policy is its own',
  )
})

t.test('over TLS the cookie is Secure and has the prefix __Host-, and other cookies do not count', async (t) => {
  const { session, statusOf } = aConsole()
  const headers = await session({ origin: 'https://shots.example', 'x-forwarded-proto': 'https' })
  t.match(headers.cookie, /^__Host-tintype-session=/)
  t.equal(await statusOf(headers), 200)
  t.equal(await statusOf({ ...headers, cookie: headers.cookie.replace('__Host-', '') }), 401, 'a subdomain could have set it')
})

/** Headers of requests that the console has not sent. */
const foreign: Record<string, string>[] = [
  {},
  { 'x-tintype-console': '1' },
  { ...own, 'sec-fetch-site': 'cross-site' },
  { ...own, 'sec-fetch-site': 'same-site' },
]

t.test('the cookie alone authenticates nothing: pages of other origins cannot use it', async (t) => {
  const { send, session, screenshots } = aConsole({ corsOrigins: ['*'] })
  const { cookie } = await session()
  for (const headers of [...foreign, { 'sec-fetch-site': 'same-origin' }, { ...own, 'sec-fetch-site': 'none' }]) {
    const created = await send('POST', '/api/v1/screenshots', { ...headers, cookie }, { url: 'https://example.com/' })
    t.equal(created.statusCode, 401, JSON.stringify(headers))
    t.notMatch((await send('GET', '/console/session', { ...headers, cookie })).body, 'acme')
    t.equal((await send('DELETE', '/console/session', { ...headers, cookie })).statusCode, 401)
  }
  t.equal(screenshots.objects.size, 0)
  const preflight = await send('OPTIONS', '/api/v1/screenshots', {
    origin: 'https://evil.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-tintype-console',
  })
  t.notMatch(String(preflight.headers['access-control-allow-headers']).toLowerCase(), 'x-tintype-console')
  t.equal(preflight.headers['access-control-allow-credentials'], undefined)
})

t.test('another page cannot sign a browser in, and a browser without Sec-Fetch-Site gets a reason', async (t) => {
  const { signIn } = aConsole()
  const foreign = await signIn(undefined, { ...own, 'sec-fetch-site': 'cross-site' })
  t.equal(foreign.statusCode, 401)
  t.equal(foreign.headers['set-cookie'], undefined)
  t.match((await signIn(undefined, { 'x-tintype-console': '1' })).json().error.message, /https, or at localhost/)
})

t.test('the cookie never counts for links and files', async (t) => {
  const { send, session } = aConsole()
  const headers = await session()
  t.equal((await send('GET', '/v1/take?url=https://example.com/', headers)).statusCode, 401)
  t.equal((await send('GET', '/files/users/acme/scr_7yztsh6vzw7j4q0n9x2c5d8e1f.png', headers)).statusCode, 403)
})

t.test('a session ends after twelve hours', async (t) => {
  const { session, pass, statusOf, whoIs } = aConsole()
  t.equal(await whoIs(own), null)
  const headers = await session()
  pass(SESSION_MILLISECONDS - 1)
  t.equal(await statusOf(headers), 200)
  pass(1)
  t.equal(await statusOf(headers), 401)
})

/** Changes of a key by REST. */
const changes: [name: string, method: 'POST' | 'PATCH', suffix: string, body: object][] = [
  ['rotated with an overlap', 'POST', '/rotate', { overlap_hours: 24 }],
  ['rotated without an overlap', 'POST', '/rotate', { overlap_hours: 0 }],
  ['deactivated', 'PATCH', '', { is_active: false }],
  ['given an end', 'PATCH', '', { expires_at: new Date(NOW.getTime() + 60_000).toISOString() }],
  ['given other scopes', 'PATCH', '', { scopes: ['usage:read'] }],
]
for (const [name, method, suffix, body] of changes) {
  t.test(`sessions and unused codes of a key end at once when it is ${name}, and stay ended`, async (t) => {
    const { send, headers, session, signIn, statusOf, issueCode, keyId, addKey } = aConsole()
    const admin = addKey().headers
    const [cookie, code] = [await session(), await issueCode()]
    const areEnded = async () => t.strictSame([await statusOf(cookie), (await signIn({ code })).statusCode], [401, 401])
    t.equal(await statusOf(cookie), 200)
    const url = `/api/v1/keys/${keyId}`
    t.match(await send(method, url + suffix, admin, body), { statusCode: /20[01]/ })
    await areEnded()
    if (suffix === '/rotate') return
    const restored = { is_active: true, expires_at: null, scopes: ['*'] }
    t.equal((await send('PATCH', url, admin, restored)).statusCode, 200)
    t.equal(await statusOf(headers), 200, 'the key works again')
    await areEnded()
  })
}

t.test('sessions and unused codes of a key end when another key with its name and text replaces it', async (t) => {
  const { send, session, signIn, statusOf, addKey, apiKeys } = aConsole()
  // A name that the gateway gives. Ids of other names contain the uid.
  const { key, text, headers } = addKey({}, { name: toObjectName(newId('key', NOW)) })
  const [cookie, issued] = [await session({}, { api_key: text }), await send('POST', '/console/codes', headers)]
  apiKeys.put({ ...key, metadata: { ...key.metadata, uid: 'uid-of-the-next' } })
  t.strictSame([await statusOf(cookie), (await signIn({ code: issued.json().data.code })).statusCode], [401, 401])
  t.equal(await statusOf(await session({}, { api_key: text })), 200)
})

t.test('no session begins or goes on for a deleted key or account that a finalizer keeps', async (t) => {
  const { send, headers, session, signIn, statusOf, whoIs, issueCode, describe, apiKeys, putAccount } = aConsole()
  const [cookie, code] = [await session(), await issueCode()]
  type Deletion = Pick<Metadata, 'deletionTimestamp'>
  for (const change of [
    (deletion: Deletion) => apiKeys.change(({ metadata }) => Object.assign(metadata, deletion)),
    (deletion: Deletion) => putAccount({}, deletion),
  ]) {
    change({ deletionTimestamp: NOW.toISOString() })
    for (const refused of [await signIn(), await signIn({ code }), await describe(code), await send('POST', '/console/codes', headers)])
      t.equal(refused.statusCode, 401)
    t.strictSame([await statusOf(cookie), await statusOf(headers), await whoIs(cookie)], [401, 401, null])
    change({ deletionTimestamp: undefined })
    t.equal(await statusOf(cookie), 200, 'control')
  }
})

t.test('a use, an annotation or a condition of the key does not end its sessions', async (t) => {
  const { session, statusOf, apiKeys } = aConsole()
  const headers = await session()
  const status = { lastUsedTime: NOW.toISOString() }
  const annotations = { 'tintype.dev/stands-in': 'x' }
  apiKeys.change((key) => Object.assign(key, { status, metadata: { ...key.metadata, annotations } }))
  t.equal(await statusOf(headers), 200)
})

t.test('a session of a key that has just changed works at a replica whose cache has the key of before', async (t) => {
  const keyRing = () => ({ current: 'a', keys: { a: 'c2VjcmV0' } })
  const { session, apiKeys, cluster } = aConsole({ keyRing })
  const keys = new TestKeys(cluster)
  keys.keys.noteWritten(apiKeys.objects[0]!)
  const replica = aConsole({ keys, keyRing })
  apiKeys.change(({ metadata }) => (metadata.generation = 2))
  t.equal(await replica.statusOf(await session()), 200)
})

t.test('signing out ends the sessions of the key, and a new one can begin at the same instant', async (t) => {
  const { send, session, statusOf } = aConsole()
  const [one, other] = [await session(), await session()]
  const ended = await send('DELETE', '/console/session', one)
  t.match(ended, { statusCode: 204, headers: { 'set-cookie': /Max-Age=0/ } })
  t.strictSame([await statusOf(one), await statusOf(other), await statusOf(await session())], [401, 401, 200])
})

t.test('a code signs in once, within ten minutes', async (t) => {
  const { issue, issueCode, signIn, pass, objects } = aConsole()
  const statusOf = async (code: string) => (await signIn({ code })).statusCode
  const { code, path: link, expires_at } = await issue()
  t.equal(link, `/#code=${code}`)
  t.equal(expires_at, new Date(NOW.getTime() + CODE_MILLISECONDS).toISOString())
  t.strictSame([await statusOf(code), await statusOf(code)], [200, 401], 'only once')
  const late = await issueCode()
  pass(CODE_MILLISECONDS)
  t.equal(await statusOf(late), 401, 'too late')
  const next = await issueCode()
  objects.write = () => Promise.reject(new Error('the store does not respond'))
  t.equal(await statusOf(next), 503, 'a code counts only if its use can be recorded')
})

t.test('a visitor learns whose link it is before it signs in, without a cookie, and the code stays unused', async (t) => {
  const { signIn, issueCode, describe, pass, keyId, objects } = aConsole()
  const code = await issueCode()
  for (let time = 0; time < 2; time++) {
    const described = await describe(code)
    t.equal(described.statusCode, 200)
    t.strictSame(described.json().data, { account: 'acme', key: { id: keyId, name: 'key-1' } })
    t.match(described.headers, { 'set-cookie': undefined, 'cache-control': 'no-store' })
  }
  t.equal((await signIn({ code })).statusCode, 200)
  const used = await describe(code)
  const wrong = await describe('a.AAAA')
  const late = await issueCode()
  pass(CODE_MILLISECONDS)
  for (const refused of [used, wrong, await describe(late)]) {
    t.equal(refused.statusCode, 401)
    t.notMatch(refused.body, 'acme')
    t.equal(refused.json().error.message, wrong.json().error.message, 'the reasons cannot be told apart')
  }
  const next = await issueCode()
  objects.exists = () => Promise.reject(new Error('the store does not respond'))
  t.equal((await describe(next)).statusCode, 503)
})

t.test('only the console can ask whose link it is', async (t) => {
  const { issueCode, describe } = aConsole()
  const code = await issueCode()
  for (const headers of foreign) {
    const response = await describe(code, headers)
    t.equal(response.statusCode, 401)
    t.notMatch(response.body, 'acme')
  }
  for (const malformed of [7, 'x'.repeat(2_049)]) t.equal((await describe(malformed)).statusCode, 400)
})

t.test('malformed sign-ins and codes are refused', async (t) => {
  const { send, signIn, key } = aConsole()
  for (const payload of [{}, { api_key: key, code: 'x' }]) t.equal((await signIn(payload)).statusCode, 400)
  for (const payload of [{ api_key: 'nonsense' }, { api_key: newKeyText() }, { code: 'a.AAAA' }])
    t.equal((await signIn(payload)).statusCode, 401)
  t.equal((await send('POST', '/console/codes', own)).statusCode, 401)
})

t.test('openConsoleFiles returns undefined when the console was not built', async (t) => {
  t.equal(await openConsoleFiles(path.join(directory, 'none')), undefined)
  t.equal(await openConsoleFiles('api-gateway/src/console'), undefined, 'the sources of the gateway')
})
