import t from 'tap'
import { aGateway } from '../fakes.ts'

const origin = 'https://app.example'
const preflight = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }

t.test('the gateway lets pages of listed origins call it and read its answers', async (t) => {
  const { app, headers } = aGateway({ corsOrigins: [origin] })
  const response = await app.inject({ url: '/v1/screenshots', headers: { ...headers, origin } })
  t.equal(response.headers['access-control-allow-origin'], origin)
  t.match(response.headers['access-control-expose-headers'], /\bX-Request-Id\b/)
  t.equal(response.headers.vary, 'Origin')
})

t.test('the gateway lets such pages read refusals too', async (t) => {
  const { app } = aGateway({ corsOrigins: [origin] })
  const response = await app.inject({ url: '/v1/screenshots', headers: { origin } })
  t.strictSame([response.statusCode, response.headers['access-control-allow-origin']], [401, origin])
})

t.test('the gateway answers the preflight of such a page, without a key', async (t) => {
  const { app } = aGateway({ corsOrigins: [origin] })
  const response = await app.inject({ method: 'OPTIONS', url: '/v1/screenshots', headers: preflight })
  t.equal(response.statusCode, 204)
  t.match(response.headers, {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': /POST/,
    'access-control-max-age': '600',
  })
  t.match(response.headers['access-control-allow-headers'], /\bAuthorization\b/)
  t.equal(response.headers.vary, 'Origin')
  t.match(response.headers.allow, /\bPOST\b/)
})

t.test('the gateway responds to paths and methods the same with and without CORS', async (t) => {
  const gateways = [aGateway({ corsOrigins: [origin] }), aGateway({ corsOrigins: ['*'] }), aGateway()]
  const requests = [
    { method: 'OPTIONS', url: '/v1/screenshots' },
    { method: 'OPTIONS', url: '/v1/screenshots/scr_1' },
    { method: 'OPTIONS', url: '/v1/none' },
    { method: 'GET', url: '/v1/none' },
    { method: 'PUT', url: '/v1/screenshots' },
  ] as const
  for (const request of requests) {
    const found = await Promise.all(
      gateways.map(async ({ app }) => {
        const { statusCode, headers } = await app.inject({ ...request, headers: request.method === 'OPTIONS' ? preflight : {} })
        return { statusCode, allow: headers.allow }
      }),
    )
    t.strictSame(found[0], found[2], `${request.method} ${request.url}`)
    t.strictSame(found[1], found[2], `${request.method} ${request.url}, open to every page`)
  }
})

t.test('the gateway tells pages of other origins nothing', async (t) => {
  const { app, headers } = aGateway({ corsOrigins: [origin] })
  for (const other of ['https://evil.example', 'https://app.example.evil.example', 'http://app.example', 'null']) {
    const response = await app.inject({ url: '/v1/screenshots', headers: { ...headers, origin: other } })
    t.equal(response.headers['access-control-allow-origin'], undefined, other)
    const asked = await app.inject({ method: 'OPTIONS', url: '/v1/screenshots', headers: { ...preflight, origin: other } })
    t.equal(asked.headers['access-control-allow-methods'], undefined, other)
  }
})

t.test('the gateway tells no page anything when no origin is listed, but for the status', async (t) => {
  const { app, headers } = aGateway()
  const response = await app.inject({ method: 'OPTIONS', url: '/v1/screenshots', headers: preflight })
  t.strictSame([response.statusCode, response.headers['access-control-allow-origin']], [204, undefined])
  t.equal(
    (await app.inject({ url: '/v1/usage/current', headers: { ...headers, origin } })).headers['access-control-allow-origin'],
    undefined,
  )
  t.equal((await app.inject({ url: '/v1/status', headers: { origin } })).headers['access-control-allow-origin'], '*')
})

t.test('the gateway can be opened to every page', async (t) => {
  const { app, headers } = aGateway({ corsOrigins: ['*'] })
  const response = await app.inject({ url: '/v1/screenshots', headers: { ...headers, origin } })
  t.strictSame([response.headers['access-control-allow-origin'], response.headers.vary], ['*', undefined])
})
