import t from 'tap'
import { buildHar, type HarRequest } from '../../../../capture-runner/src/requests/har.ts'

const asked: HarRequest = {
  method: 'GET',
  url: 'https://example.com/a?b=c',
  headers: { Accept: '*/*', Cookie: 'a=secret', Authorization: 'secret', 'X-Own': 'secret' },
  startedAt: '2026-11-21T12:00:00.000Z',
  start: 100,
  end: 100.25,
  bytes: 1_234,
  type: 'Document',
  response: {
    status: 200,
    statusText: 'OK',
    headers: { 'content-type': 'text/html', 'Set-Cookie': 'a=secret' },
    mimeType: 'text/html',
    protocol: 'h2',
    timing: { dnsStart: -1, dnsEnd: -1, connectStart: 1, connectEnd: 11, sendStart: 11, sendEnd: 12, receiveHeadersEnd: 112 },
  },
}
interface Entry {
  request: { url: string; headers: { name: string }[]; queryString: object[] }
  response: { status: number; headers: { name: string }[] }
  time: number
  timings: object
}
const build = (...requests: HarRequest[]) =>
  buildHar(requests, { version: '1.0.0', hidden: ['x-own'] }) as { log: { version: string; entries: Entry[] } }

t.test('buildHar lists each request with its times', async (t) => {
  const { log } = build(asked)
  t.equal(log.version, '1.2')
  t.match(log.entries, [
    {
      time: 250,
      request: { url: asked.url, queryString: [{ name: 'b', value: 'c' }] },
      response: { status: 200 },
      timings: { dns: -1, connect: 10, send: 1, wait: 100, receive: 138 },
    },
  ])
})

t.test('buildHar leaves cookies, credentials and the client’s own headers out', async (t) => {
  const har = build(asked)
  t.notMatch(JSON.stringify(har), /secret/)
  t.strictSame(
    har.log.entries[0]?.request.headers.map(({ name }) => name),
    ['Accept'],
  )
  t.strictSame(
    har.log.entries[0]?.response.headers.map(({ name }) => name),
    ['content-type'],
  )
})

t.test('buildHar marks requests that the batch’s cache served', async (t) => {
  const { log } = build(asked, { ...asked, start: 101, bytes: 0, isShared: true })
  t.notMatch(log.entries[0], { _fromCache: 'batch' })
  t.match(log.entries[1], { _fromCache: 'batch', response: { status: 200, bodySize: 0 } })
})

t.test('buildHar orders requests by their start, and includes failures', async (t) => {
  const { response: _, bytes: __, ...bare } = asked
  const har = build(asked, { ...bare, url: 'https://example.com/first', start: 99, failure: 'net::ERR_FAILED' })
  t.match(har.log.entries, [{ response: { status: 0, _error: 'net::ERR_FAILED' } }, { response: { status: 200 } }])
})
