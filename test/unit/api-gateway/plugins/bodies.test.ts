import t from 'tap'
import { aGateway } from '../fakes.ts'

const post = async (url: string, payload: string) => {
  const { app, headers } = aGateway()
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url,
    payload,
    headers: { ...headers, 'content-type': 'application/json' },
  })
  return { statusCode, ...JSON.parse(body) }
}

const page = '"url":"https://example.com/"'
const bodies: [path: string, url: string, body: string][] = [
  ['options.headers.__proto__', '/v1/screenshots', `{${page},"options":{"headers":{"__proto__":"x"}}}`],
  ['options.headers.__proto__', '/v1/screenshots', `{${page},"options":{"headers":{"\\u005f_proto__":"x"}}}`],
  ['options.local_storage.constructor', '/v1/screenshots', `{${page},"options":{"local_storage":{"constructor":"x"}}}`],
  ['options.media_features.prototype', '/v1/screenshots', `{${page},"options":{"media_features":{"prototype":"x"}}}`],
  ['options.cookies[0].__proto__', '/v1/screenshots', `{${page},"options":{"cookies":[{"name":"a","value":"b","__proto__":{}}]}}`],
  ['__proto__', '/v1/screenshots', `{${page},"__proto__":{"url":"https://evil.example/"}}`],
  ['options.headers.__proto__', '/v1/screenshots/batch', '{"urls":["https://example.com/"],"options":{"headers":{"__proto__":"x"}}}'],
  ['__proto__', '/v1/webhooks', '{"url":"https://example.com/","events":["screenshot.completed"],"__proto__":{}}'],
  ['constructor', '/v1/keys', '{"name":"a","constructor":{}}'],
]
for (const [path, url, body] of bodies) {
  t.test(`${path} is dropped in silence: POST ${url} refuses ${body}`, async (t) => {
    const message = `${path} is a reserved name: leave the field out`
    t.match(await post(url, body), {
      statusCode: 400,
      error: { code: 'VALIDATION_ERROR', details: [{ path, code: 'reserved_name', message }] },
    })
  })
}

t.test('A value may say anything', async (t) => {
  t.equal((await post('/v1/screenshots', `{${page},"options":{"scripts":"a.__proto__ = a.constructor.prototype"}}`)).statusCode, 202)
})

t.test('A reserved name in great depth is named in short', async (t) => {
  const response = await post('/v1/screenshots', `${'{"a":'.repeat(100_000)}{"__proto__":1}${'}'.repeat(100_000)}`)
  t.equal(response.statusCode, 400)
  t.match(response.error.details, [{ code: 'reserved_name', path: /^….*\.__proto__$/ }])
})
