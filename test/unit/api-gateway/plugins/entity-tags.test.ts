import t from 'tap'
import { aGateway, aScreenshot, SCREENSHOT_ID } from '../fakes.ts'

// A proxy that compresses a response removes its entity tag (Envoy) or makes it weak (nginx). It must leave responses with no-transform as they are.

const gateway = aGateway()
gateway.screenshots.put(aScreenshot({ phase: 'Completed' }))
const read = async (url: string, headers = {}) => {
  const response = await gateway.app.inject({ url, headers: { authorization: `Bearer ${gateway.key}`, ...headers } })
  const { etag, 'cache-control': cacheControl } = response.headers
  return { status: response.statusCode, etag, cacheControl }
}

t.test('proxies must not change records with an entity tag', async (t) => {
  const record = await read(`/v1/screenshots/${SCREENSHOT_ID}`)
  t.match(record, { status: 200, etag: /^"/, cacheControl: 'private, no-cache, no-transform' })
  const known = await read(`/v1/screenshots/${SCREENSHOT_ID}`, { 'if-none-match': record.etag })
  t.match(known, { status: 304, etag: record.etag, cacheControl: 'private, no-cache, no-transform' })
})

t.test('proxies may compress lists and public documents', async (t) => {
  t.match(await read('/v1/screenshots'), { status: 200, etag: undefined, cacheControl: 'private, no-cache' })
  t.match(await read('/v1/openapi.json'), { status: 200, etag: /^"/, cacheControl: 'public, no-cache' })
})
