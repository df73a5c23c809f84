import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import t from 'tap'
import { openConsoleFiles } from '../../../../api-gateway/src/console/files.ts'
import { CODE_MILLISECONDS, SESSION_MILLISECONDS } from '../../../../api-gateway/src/console/session-token.ts'
import { newKeyText } from '../../../../crds/src/crypto/key-text.ts'
import { apiKeyIdOf } from '../../../../crds/src/identifiers/ids.ts'
import { aGateway, NOW } from '../fakes.ts'

// The console's routes over stores in memory. The page and one asset stand in for the built files.

const directory = await mkdtemp(path.join(tmpdir(), 'tintype-console-'))
t.teardown(() => rm(directory, { recursive: true, force: true }))
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
  const signIn = async (payload: object = { api_key: gateway.key }, headers: Record<string, string> = own) =>
    gateway.app.inject({ method: 'POST', url: '/console/session', headers, payload })
  /** The headers of requests of the signed-in console. */
  const session = async (more: Record<string, string> = {}) => {
    const headers = { ...own, ...more }
    const cookie = String((await signIn(undefined, headers)).headers['set-cookie']).split(';')[0]!
    return { ...headers, cookie }
  }
  return { ...gateway, pass, signIn, session }
}

t.test('GET / serves the page to browsers, with a strict policy, and an index to programs', async (t) => {
  const { app } = aConsole({ storeOrigin: 'https://files.example:9000' })
  const page = await app.inject({ url: '/', headers: { accept: BROWSER } })
  t.match(page.body, /<title>Tintype/)
  t.match(page.headers, { 'cache-control': 'no-cache', vary: 'accept', 'content-type': 'text/html; charset=utf-8' })
  const policy = String(page.headers['content-security-policy'])
  t.notMatch(policy, /unsafe/)
  t.match(policy, "script-src 'self';")
  t.match(policy, "img-src 'self' https://files.example:9000 blob: data:;")
  t.match(policy, "media-src 'self' https://files.example:9000;")
  const again = await app.inject({ url: '/', headers: { accept: BROWSER, 'if-none-match': String(page.headers.etag) } })
  t.equal(again.statusCode, 304)
  for (const accept of ['*/*', 'application/json', undefined]) {
    const index = await app.inject({ url: '/', headers: accept === undefined ? {} : { accept } })
    t.match(index.json(), { name: 'Tintype', links: { openapi: '/api/v1/openapi.json' } })
  }
})

t.test('GET /console/assets serves files with the encoding that the client accepts, and no others', async (t) => {
  const { app } = aConsole()
  const small = await app.inject({ url: '/console/assets/app-1.js', headers: { 'accept-encoding': 'gzip, br' } })
  t.equal(small.headers['content-encoding'], 'br')
  t.equal(brotliDecompressSync(small.rawPayload).toString(), SCRIPT)
  t.match(small.headers, { 'cache-control': /immutable/, 'content-type': /javascript/, vary: 'accept-encoding' })
  t.equal((await app.inject({ url: '/console/assets/app-1.js' })).body, SCRIPT)
  for (const name of ['app-2.js', 'app-1.js.br', '..%2Findex.html', '%2e%2e%2findex.html', '__proto__'])
    t.equal((await app.inject({ url: `/console/assets/${name}` })).statusCode, 404, name)
})

t.test('without a console, none of its routes exists', async (t) => {
  const { app, key } = aGateway()
  for (const [method, url] of [
    ['GET', '/'],
    ['GET', '/console/session'],
    ['POST', '/console/session'],
    ['POST', '/console/codes'],
    ['GET', '/console/assets/app-1.js'],
  ] as const)
    t.equal((await app.inject({ method, url, headers: { ...own, authorization: `Bearer ${key}`, accept: BROWSER } })).statusCode, 404, url)
})

t.test('an API key begins a session that reads the API as the key does', async (t) => {
  const { app, signIn, session, keys } = aConsole()
  const begun = await signIn()
  t.equal(begun.statusCode, 200)
  t.match(String(begun.headers['set-cookie']), /^tintype-session=[^;]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/)
  t.match(begun.json(), { data: { account: 'acme', key: { id: apiKeyIdOf(keys.keys[0]!.metadata), scopes: ['*'] } } })
  const headers = await session()
  t.match((await app.inject({ url: '/console/session', headers })).json(), {
    data: { account: 'acme', expires_at: new Date(NOW.getTime() + SESSION_MILLISECONDS).toISOString() },
  })
  const usage = await app.inject({ url: '/api/v1/usage/current', headers })
  t.equal(usage.statusCode, 200)
  t.ok(keys.uses.size > 0, 'the use of the key is recorded')
  keys.keys[0]!.spec.scopes = ['screenshots:read']
  t.equal((await app.inject({ url: '/api/v1/usage/current', headers })).statusCode, 403, 'the scopes are those that the key has now')
})

t.test('over TLS the cookie is Secure and has the prefix __Host-, and no other cookie counts', async (t) => {
  const { app, session } = aConsole()
  const tls = { origin: 'https://shots.example', 'x-forwarded-proto': 'https' }
  const headers = await session(tls)
  t.match(headers.cookie, /^__Host-tintype-session=/)
  t.equal((await app.inject({ url: '/api/v1/usage/current', headers })).statusCode, 200)
  const plain = { ...headers, cookie: headers.cookie.replace('__Host-', '') }
  t.equal((await app.inject({ url: '/api/v1/usage/current', headers: plain })).statusCode, 401, 'a subdomain could have set it')
})

t.test('the cookie alone authenticates nothing: pages of other origins cannot use it', async (t) => {
  const { app, session, screenshots } = aConsole({ corsOrigins: ['*'] })
  const { cookie } = await session()
  const attempts: Record<string, string>[] = [
    {},
    { 'sec-fetch-site': 'same-origin' },
    { 'x-tintype-console': '1' },
    { ...own, 'sec-fetch-site': 'cross-site' },
    { ...own, 'sec-fetch-site': 'same-site' },
    { ...own, 'sec-fetch-site': 'none' },
  ]
  for (const headers of attempts) {
    const payload = { url: 'https://example.com/' }
    const created = await app.inject({ method: 'POST', url: '/api/v1/screenshots', headers: { ...headers, cookie }, payload })
    t.equal(created.statusCode, 401, JSON.stringify(headers))
    t.notMatch((await app.inject({ url: '/console/session', headers: { ...headers, cookie } })).body, 'acme')
    t.equal((await app.inject({ method: 'DELETE', url: '/console/session', headers: { ...headers, cookie } })).statusCode, 401)
  }
  t.equal(screenshots.objects.size, 0)
  const preflight = await app.inject({
    method: 'OPTIONS',
    url: '/api/v1/screenshots',
    headers: {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-tintype-console',
    },
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
  const { app, session } = aConsole()
  const headers = await session()
  t.equal((await app.inject({ url: '/v1/take?url=https://example.com/', headers })).statusCode, 401)
  t.equal((await app.inject({ url: '/files/users/acme/scr_7yztsh6vzw7j4q0n9x2c5d8e1f.png', headers })).statusCode, 403)
})

t.test('a session ends after twelve hours, with its key, and with a rotation', async (t) => {
  const { app, session, pass, keys } = aConsole()
  const status = async (headers: Record<string, string>) => (await app.inject({ url: '/api/v1/usage/current', headers })).statusCode
  t.equal((await app.inject({ url: '/console/session', headers: own })).json().data, null)
  const first = await session()
  pass(SESSION_MILLISECONDS - 1)
  t.equal(await status(first), 200)
  pass(1)
  t.equal(await status(first), 401)
  const second = await session()
  keys.keys[0]!.spec.active = false
  t.equal(await status(second), 401)
  keys.keys[0]!.spec.active = true
  t.equal(await status(second), 200)
  keys.keys[0]!.metadata.labels = {}
  t.equal(await status(second), 401)
})

t.test('signing out ends the sessions of the key, and a new one can begin at the same instant', async (t) => {
  const { app, session } = aConsole()
  const status = async (headers: Record<string, string>) => (await app.inject({ url: '/api/v1/usage/current', headers })).statusCode
  const [one, other] = [await session(), await session()]
  const ended = await app.inject({ method: 'DELETE', url: '/console/session', headers: one })
  t.equal(ended.statusCode, 204)
  t.match(String(ended.headers['set-cookie']), 'Max-Age=0')
  t.strictSame([await status(one), await status(other)], [401, 401])
  t.equal(await status(await session()), 200)
})

t.test('a code signs in once, within ten minutes', async (t) => {
  const { app, headers, signIn, pass, objects } = aConsole()
  const issue = async () => (await app.inject({ method: 'POST', url: '/console/codes', headers })).json().data
  const { code, path: link, expires_at } = await issue()
  t.equal(link, `/#code=${code}`)
  t.equal(expires_at, new Date(NOW.getTime() + CODE_MILLISECONDS).toISOString())
  t.equal((await signIn({ code })).statusCode, 200)
  t.equal((await signIn({ code })).statusCode, 401, 'the second time')
  const late = await issue()
  pass(CODE_MILLISECONDS)
  t.equal((await signIn({ code: late.code })).statusCode, 401, 'too late')
  const next = await issue()
  objects.write = async () => {
    throw new Error('the store does not respond')
  }
  t.equal((await signIn({ code: next.code })).statusCode, 503, 'a code counts only if its use can be recorded')
})

t.test('malformed sign-ins and codes are refused', async (t) => {
  const { app, signIn, key } = aConsole()
  t.equal((await signIn({})).statusCode, 400)
  t.equal((await signIn({ api_key: key, code: 'x' })).statusCode, 400)
  t.equal((await signIn({ api_key: 'nonsense' })).statusCode, 401)
  t.equal((await signIn({ api_key: newKeyText() })).statusCode, 401)
  t.equal((await signIn({ code: 'a.AAAA' })).statusCode, 401)
  t.equal((await app.inject({ method: 'POST', url: '/console/codes', headers: own })).statusCode, 401)
})

t.test('openConsoleFiles returns undefined when the console was not built', async (t) => {
  t.equal(await openConsoleFiles(path.join(directory, 'none')), undefined)
  t.equal(await openConsoleFiles('api-gateway/src/console'), undefined, 'the sources of the gateway')
})
