import t from 'tap'
import { aGateway } from '../fakes.ts'

const cases = [
  { url: '/v1/screenshots', allow: 'GET, HEAD, OPTIONS, POST' },
  { url: '/v1/screenshots/batch', allow: 'OPTIONS, POST' },
  { url: '/v1/screenshots/scr_1', allow: 'DELETE, GET, HEAD, OPTIONS' },
  { url: '/api/v1/keys/key_1?x=1', allow: 'DELETE, GET, HEAD, OPTIONS, PATCH, PUT' },
  { url: '/files/users/a/b.png', allow: 'GET, HEAD, OPTIONS' },
  { url: '/docs', allow: 'GET, HEAD, OPTIONS' },
]

for (const { url, allow } of cases) {
  t.test(`OPTIONS and 405 list the methods of ${url} without a key`, async (t) => {
    const { app } = aGateway()
    const options = await app.inject({ method: 'OPTIONS', url })
    t.strictSame([options.statusCode, options.headers.allow, options.body], [204, allow, ''])
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const) {
      if (allow.includes(method)) continue
      const response = await app.inject({ method, url, payload: method === 'GET' || method === 'HEAD' ? undefined : '{' } as never)
      t.strictSame([response.statusCode, response.headers.allow], [405, allow], method)
      if (method !== 'HEAD') t.equal(response.json().error.code, 'METHOD_NOT_ALLOWED')
    }
  })
}

t.test('every GET route accepts HEAD', async (t) => {
  const { app, headers } = aGateway()
  for (const url of ['/v1/screenshots', '/v1/keys', '/v1/webhooks', '/v1/usage/current', '/v1/status', '/v1/openapi.json']) {
    const get = await app.inject({ url, headers })
    const head = await app.inject({ method: 'HEAD', url, headers })
    t.strictSame([head.statusCode, head.headers['content-type'], head.body], [get.statusCode, get.headers['content-type'], ''], url)
  }
})

t.test('a path without a route gets 404 with every method', async (t) => {
  const { app } = aGateway()
  for (const method of ['GET', 'POST', 'OPTIONS'] as const)
    t.equal((await app.inject({ method, url: '/v1/nothing' })).statusCode, 404, method)
})

t.test('the error for a path without a route names method and path, and the API reference', async (t) => {
  const { app } = aGateway()
  const messageOf = async (method: 'GET' | 'DELETE', url: string): Promise<string> =>
    (await app.inject({ method, url })).json().error.message
  t.equal(await messageOf('GET', '/foo'), 'No route matches GET /foo. See /docs for the API reference.')
  t.equal(await messageOf('DELETE', '/v1/a%20b?key=secret'), 'No route matches DELETE /v1/a%20b. See /docs for the API reference.')
  const long = `/${'x'.repeat(500)}`
  t.equal(
    await messageOf('GET', long),
    `No route matches GET ${long.slice(0, 200)}. See /docs for the API reference.`,
    'at most 200 characters of the path',
  )
})

t.test('a path with an id that is too long gets 404 and not 500', async (t) => {
  const { app, headers } = aGateway()
  for (const url of ['/v1/screenshots/', '/api/v1/keys/', '/v1/webhooks/', '/v1/batches/', '/v1/schedules/'])
    t.match(await app.inject({ url: url + 'x'.repeat(101), headers }).then((response) => response.json()), {
      success: false,
      error: { code: 'NOT_FOUND' },
    })
})
