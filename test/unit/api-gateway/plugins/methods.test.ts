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
  t.test(`the gateway tells the methods of ${url}, without a key`, async (t) => {
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

t.test('the gateway has a HEAD for every GET', async (t) => {
  const { app, headers } = aGateway()
  for (const url of ['/v1/screenshots', '/v1/keys', '/v1/webhooks', '/v1/usage/current', '/v1/status', '/v1/openapi.json']) {
    const get = await app.inject({ url, headers })
    const head = await app.inject({ method: 'HEAD', url, headers })
    t.strictSame([head.statusCode, head.headers['content-type'], head.body], [get.statusCode, get.headers['content-type'], ''], url)
  }
})

t.test('the gateway knows no method of a path that it does not know', async (t) => {
  const { app } = aGateway()
  for (const method of ['GET', 'POST', 'OPTIONS'] as const)
    t.equal((await app.inject({ method, url: '/v1/nothing' })).statusCode, 404, method)
})
