import { EventEmitter } from 'node:events'
import t from 'tap'
import type { PageEvents } from '../../../../capture-runner/src/browser/devtools.ts'
import { addHeaders, Requesters } from '../../../../capture-runner/src/requests/interception.ts'
import { buildHar, type HarRequest } from '../../../../capture-runner/src/requests/journal.ts'

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

t.test('addHeaders replaces headers of the same name in any case, and keeps the rest', async (t) => {
  t.strictSame(addHeaders({ 'User-Agent': 'a', Accept: '*/*' }, { 'user-agent': 'b', 'X-Y': 'z' }), {
    Accept: '*/*',
    'user-agent': 'b',
    'X-Y': 'z',
  })
})

t.test('addHeaders keeps an Authorization header that the page set', async (t) => {
  t.strictSame(addHeaders({ authorization: 'mine' }, { Authorization: 'given', a: 'b' }), { authorization: 'mine', a: 'b' })
  t.strictSame(addHeaders({}, { Authorization: 'given' }), { Authorization: 'given' })
})

const OWN = 'https://own.example'
const FOREIGN = 'https://foreign.example'

/** A page whose events the test sends. */
function aPage() {
  const events = new EventEmitter()
  const requesters = new Requesters(events as unknown as PageEvents, 'main')
  return {
    ask: (url: string, frameId = 'main', resourceType = 'Image') => requesters.isOwn({ frameId, resourceType, request: { url } }, OWN),
    navigate: (url: string, frameId = 'main') => requesters.isOwn({ frameId, resourceType: 'Document', request: { url } }, OWN),
    attach: (frameId: string, parentFrameId = 'main') => void events.emit('Page.frameAttached', { frameId, parentFrameId }),
    show: (securityOrigin: string, id = 'main') => void events.emit('Page.frameNavigated', { frame: { id, securityOrigin } }),
  }
}

t.test('isOwn is true for the first document and its requests, even before the page’s events', async (t) => {
  const page = aPage()
  t.ok(page.navigate(`${OWN}/`))
  t.ok(page.ask(`${OWN}/a.png`))
  page.show(OWN)
  t.ok(page.ask(`${OWN}/b.png`))
})

t.test('isOwn is false for another origin: scheme, host and port count', async (t) => {
  const page = aPage()
  for (const url of ['http://own.example/', 'https://own.example:8443/', 'https://sub.own.example/', `${FOREIGN}/`, 'data:,x', 'x']) {
    t.notOk(page.navigate(url), url)
    page.navigate(`${OWN}/`)
    t.notOk(page.ask(url), url)
  }
})

t.test('isOwn is false for requests of a foreign document, before or after its commit', async (t) => {
  const page = aPage()
  page.navigate(`${OWN}/`)
  page.show(OWN)
  page.navigate(`${FOREIGN}/`)
  t.notOk(page.ask(`${OWN}/a.png`), 'it was requested')
  page.show(FOREIGN)
  t.notOk(page.ask(`${OWN}/a.png`), 'it is shown')
  t.notOk(page.navigate(`${OWN}/`), 'it navigates back')
  t.notOk(page.ask(`${OWN}/a.png`), 'it is still shown')
})

t.test('isOwn is true for frames of the origin, and inside them only within the origin', async (t) => {
  const page = aPage()
  page.navigate(`${OWN}/`)
  page.attach('inner')
  t.ok(page.navigate(`${OWN}/inner`, 'inner'))
  t.ok(page.ask(`${OWN}/a.png`, 'inner'))
  page.attach('foreign')
  t.notOk(page.navigate(`${FOREIGN}/`, 'foreign'))
  t.notOk(page.ask(`${OWN}/a.png`, 'foreign'))
  t.notOk(page.navigate(`${OWN}/`, 'foreign'), 'another origin may have started the navigation')
  page.attach('nested', 'foreign')
  t.notOk(page.navigate(`${OWN}/`, 'nested'))
  t.notOk(page.ask(`${OWN}/a.png`, 'nested'))
})

t.test('isOwn is false for frames of other pages', async (t) => {
  const page = aPage()
  page.navigate(`${OWN}/`)
  t.notOk(page.navigate(`${OWN}/`, 'stranger'))
  t.notOk(page.ask(`${OWN}/a.png`, 'stranger'))
})
