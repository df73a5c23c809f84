import { connect } from 'node:net'
import t from 'tap'
import { newKeyText } from '../../../crds/src/crypto/key-text.ts'
import { call } from './client.ts'
import { startWorld } from './world.ts'

const world = await startWorld()
t.teardown(() => world.stop())
await world.createAccount('acme')
await world.createAccount('stopped', { suspended: true })
const key = await world.createKey({ accountName: 'acme' })
const gateway = await world.startGateway()
const api = `${gateway.url}/api/v1`
const url = 'https://example.com/'

type Detail = { path: string; code: string; message: string }

const bodies: { name: string; body: unknown; code?: string; details: string[]; says?: RegExp }[] = [
  { name: 'malformed JSON', body: '{"url": ', details: [' invalid_json'] },
  { name: 'the format of a video', body: { url, options: { format: 'gif' } }, details: ['options.format contradiction'] },
  {
    name: 'an unknown option, with the closest name',
    body: { url, options: { fullpage: true } },
    details: ['options.fullpage unknown_field'],
    says: /did you mean full_page\?/,
  },
  {
    name: 'a misplaced option, with the right place',
    body: { url, full_page: true },
    details: ['full_page unknown_field'],
    says: /did you mean options\.full_page\?/,
  },
  { name: 'a private address', body: { url: 'http://10.0.0.1/' }, code: 'URL_NOT_ALLOWED', details: ['url url_not_allowed'] },
  {
    name: 'all errors of a request at once',
    body: {
      url: 'http://127.0.0.1/',
      color: 1,
      options: { image_quality: 101, delay: -1, timeout: 'long', wait_for_selector: '', dark: true },
    },
    details: [
      'color unknown_field',
      'options.dark unknown_field',
      'options.delay too_small',
      'options.image_quality too_big',
      'options.timeout invalid_type',
      'options.wait_for_selector too_small',
      'url url_not_allowed',
    ],
  },
]

for (const { name, body, code = 'VALIDATION_ERROR', details, says = /./ } of bodies) {
  t.test(`POST /screenshots refuses ${name}`, async (t) => {
    const response = await call(`${api}/screenshots`, { method: 'POST', key, body })
    const { error, ...rest } = response.body
    const { message, details: found, ...others } = error
    t.strictSame(
      { status: response.status, ...rest, ...others, details: found.map((detail: Detail) => `${detail.path} ${detail.code}`).sort() },
      { status: 400, success: false, code, request_id: response.headers.get('x-request-id'), details: [...details].sort() },
    )
    t.match(found.map((detail: Detail) => detail.message).join('\n'), says)
    t.notMatch(message, 'secret')
  })
}

const credentials: { name: string; headers: () => Promise<Record<string, string>>; status: number; code: string; challenge: RegExp }[] = [
  { name: 'no key', headers: async () => ({}), status: 401, code: 'UNAUTHORIZED', challenge: /^Bearer realm="api"$/ },
  {
    name: 'another scheme',
    headers: async () => ({ authorization: 'Basic eDp5' }),
    status: 401,
    code: 'UNAUTHORIZED',
    challenge: /^Bearer realm="api"$/,
  },
  {
    name: 'a key with a wrong checksum',
    headers: async () => bearer(`${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`),
    status: 401,
    code: 'INVALID_API_KEY',
    challenge: /invalid_token/,
  },
  {
    name: 'a key that was never created',
    headers: async () => bearer(newKeyText()),
    status: 401,
    code: 'INVALID_API_KEY',
    challenge: /invalid_token/,
  },
  {
    name: 'an inactive key',
    headers: async () => bearer(await world.createKey({ accountName: 'acme', active: false })),
    status: 401,
    code: 'INVALID_API_KEY',
    challenge: /invalid_token/,
  },
  {
    name: 'an expired key',
    headers: async () => bearer(await world.createKey({ accountName: 'acme', expiryTime: '2020-01-01T00:00:00Z' })),
    status: 401,
    code: 'INVALID_API_KEY',
    challenge: /invalid_token/,
  },
  {
    name: 'a key without an account',
    headers: async () => bearer(await world.createKey({ accountName: 'nobody' })),
    status: 401,
    code: 'INVALID_API_KEY',
    challenge: /invalid_token/,
  },
  {
    name: 'a read-only key',
    headers: async () => bearer(await world.createKey({ accountName: 'acme', scopes: ['screenshots:read'] })),
    status: 403,
    code: 'INSUFFICIENT_SCOPE',
    challenge: /scope="screenshots:write"/,
  },
  {
    name: 'a suspended account',
    headers: async () => bearer(await world.createKey({ accountName: 'stopped' })),
    status: 403,
    code: 'ACCOUNT_SUSPENDED',
    challenge: /^$/,
  },
]
const bearer = (text: string) => ({ authorization: `Bearer ${text}` })

for (const { name, headers, status, code, challenge } of credentials) {
  t.test(`POST /screenshots refuses ${name}`, async (t) => {
    const response = await call(`${api}/screenshots`, { method: 'POST', body: { url }, headers: await headers() })
    t.equal(response.status, status)
    t.equal(response.body.error.code, code)
    t.match(response.headers.get('www-authenticate') ?? '', challenge)
  })
}

const requests: {
  name: string
  path: string
  method?: string
  headers?: Record<string, string>
  body?: unknown
  status: number
  code: string
}[] = [
  { name: 'an unknown path', path: '/nothing', status: 404, code: 'NOT_FOUND' },
  { name: 'a list with an unknown parameter', path: '/screenshots?statsu=failed', status: 400, code: 'VALIDATION_ERROR' },
  { name: 'a list with limit 0', path: '/screenshots?limit=0', status: 400, code: 'VALIDATION_ERROR' },
  { name: 'a list with an invalid cursor', path: '/screenshots?cursor=abc', status: 400, code: 'VALIDATION_ERROR' },
  { name: 'a list filtered by an unknown status', path: '/screenshots?status=running', status: 400, code: 'VALIDATION_ERROR' },
  {
    name: 'a wait of more than 25 seconds',
    path: '/screenshots?wait=26',
    method: 'POST',
    body: { url },
    status: 400,
    code: 'VALIDATION_ERROR',
  },
  {
    name: 'a method that the path does not support',
    path: '/screenshots',
    method: 'PUT',
    body: '{',
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
  },
  {
    name: 'a body that is not JSON',
    path: '/screenshots',
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: 'url',
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
  {
    name: 'a body of more than 8 MiB',
    path: '/screenshots',
    method: 'POST',
    body: { url, x: 'x'.repeat(8_400_000) },
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  },
  { name: 'a path that cannot be decoded', path: '/screenshots/%zz', status: 400, code: 'VALIDATION_ERROR' },
]

for (const { name, path, status, code, ...rest } of requests) {
  t.test(`the gateway answers ${status} to ${name}`, async (t) => {
    const response = await call(`${api}${path}`, { key, ...rest })
    t.equal(response.status, status)
    t.match(response.body, { success: false, error: { code, message: /./, request_id: /./ } })
  })
}

t.test('the gateway lists the methods of a path in Allow, and responds to OPTIONS', async (t) => {
  const wrong = await call(`${api}/screenshots`, { method: 'PATCH', key })
  t.equal(wrong.headers.get('allow'), 'GET, HEAD, OPTIONS, POST')
  const options = await call(`${gateway.url}/v1/screenshots/scr_x`, { method: 'OPTIONS' })
  t.equal(options.status, 204)
  t.equal(options.headers.get('allow'), 'DELETE, GET, HEAD, OPTIONS')
})

t.test('the gateway accepts an empty body of any type if no body is needed', async (t) => {
  for (const type of ['application/json', 'text/plain']) {
    const { body: created } = await call(`${api}/screenshots`, { method: 'POST', key, body: { url } })
    const response = await call(`${api}/screenshots/${created.id}`, { method: 'DELETE', key, headers: { 'content-type': type } })
    t.equal(response.status, 204, type)
  }
})

t.test('Prefer: handling=lenient ignores unknown names and lists them', async (t) => {
  const body = { url, color: 1, options: { fullpage: true, full_page: true } }
  const {
    status,
    headers,
    body: created,
  } = await call(`${api}/screenshots`, { method: 'POST', key, body, headers: { prefer: 'handling=lenient' } })
  t.equal(status, 202)
  t.equal(headers.get('x-ignored-options'), 'color, options.fullpage')
  t.equal(created.options.full_page, true)
  await call(`${api}/screenshots/${created.id}`, { method: 'DELETE', key })
})

t.test('POST /webhooks refuses a URL that hides its target', async (t) => {
  const body = { name: 'hidden', events: ['screenshot.completed'] }
  const create = (target: string) => call(`${api}/webhooks`, { method: 'POST', key, body: { ...body, url: target } })
  const tricks = [
    'https://public.example.com@127.0.0.1/',
    'https://127.0.0.1@public.example.com/',
    'https://public.example.com%40127.0.0.1/',
    'https://public.example.com\\@127.0.0.1/',
    'https:\\\\127.0.0.1/',
    'https:/127.0.0.1/',
    'https://127.0.\t0.1/',
    'https://127.0.0.1\n/',
    'https://public.example.com/#@127.0.0.1/',
    'https://@127.0.0.1/',
    'https://[::1%25lo]/',
    'HTTPS://127.0.0.1/',
  ]
  for (const trick of tricks) t.equal((await create(trick)).status, 400, trick)
  t.equal((await create('https://public.example.com/?to=@127.0.0.1')).status, 201, 'a query does not hide the target')
})

t.test('a client that sends too large a body always receives the response', async (t) => {
  const body = JSON.stringify({ url: 'x'.repeat(8 * 1024 * 1024) })
  for (let n = 0; n < 20; n++) t.equal((await call(`${api}/screenshots`, { method: 'POST', key, body })).status, 413)
})

t.test('the gateway returns the error envelope even for data that is not HTTP', async (t) => {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1')
  socket.end('NONSENSE\r\n\r\n')
  const text = Buffer.concat(await socket.toArray()).toString()
  t.match(text, /^HTTP\/1\.1 400 /)
  t.match(JSON.parse(text.split('\r\n\r\n')[1] ?? ''), { success: false, error: { code: 'VALIDATION_ERROR' } })
})

t.test('no invalid request created anything', async (t) => {
  t.strictSame(await world.screenshots.listAll(), [])
})
