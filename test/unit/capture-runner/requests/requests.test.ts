import { EventEmitter } from 'node:events'
import t from 'tap'
import type { DevTools, PageEvents } from '../../../../capture-runner/src/browser/devtools.ts'
import { DocumentPolicy } from '../../../../capture-runner/src/requests/document-policy.ts'
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

/** A session that answers with a tree of frames, or is gone. */
const frameSession = (frameTree?: object) =>
  Object.assign(new EventEmitter(), {
    send: async () => (frameTree ? { frameTree } : Promise.reject(new Error('gone'))),
  }) as unknown as EventEmitter & DevTools

const policyFor = (own?: string) => {
  const session = frameSession({
    frame: { id: 'main' },
    childFrames: [{ frame: { id: 'child' }, childFrames: [{ frame: { id: 'inner' } }] }],
  })
  const foreign = frameSession({ frame: { id: 'foreign' }, childFrames: [{ frame: { id: 'born-there' } }] })
  const limit = { keyId: 'key_1', hosts: ['a.example'] }
  return { session, policy: new DocumentPolicy({ session, mainFrame: 'main', foreignFrames: () => [foreign, frameSession()] }, limit, own) }
}

t.test('a document is refused by its host, whatever shows what its opener has', async (t) => {
  const { policy } = policyFor('http://html.invalid/')
  for (const url of [
    'https://a.example/',
    'http://A.example.:81/',
    'about:blank',
    'about:srcdoc',
    'data:text/html,a',
    'blob:https://b.example/1',
    'http://html.invalid/',
  ])
    t.equal(policy.findRefusal(url), undefined, url)
  for (const [url, host] of [
    ['https://b.example/a.example', 'b.example'],
    ['https://a.example@B.example/', 'b.example'],
    ['http://[::1]/', '::1'],
    ['file:///etc/passwd', 'file:'],
    ['http://html.invalid/2', 'html.invalid'],
  ] as const)
    t.strictSame(policy.findRefusal(url), { keyId: 'key_1', field: 'allowedHosts', host }, url)
  t.ok(policyFor().policy.findRefusal('http://html.invalid/'), 'without own markup')
})

t.test('a frame belongs to the page if one of its processes has it', async (t) => {
  const { policy, session } = policyFor()
  session.emit('Page.frameAttached', { frameId: 'attached' })
  for (const frame of ['main', 'attached', 'child', 'inner', 'foreign', 'born-there']) t.equal(await policy.owns(frame), true, frame)
  t.equal(await policy.owns('of another page'), false)
})

t.test('a document that is shown without a request is reported, but no error page', async (t) => {
  const { policy, session } = policyFor()
  const reported: string[] = []
  policy.watchFrames(({ host }) => reported.push(host))
  const shown = (url: string, unreachableUrl?: string) =>
    session.emit('Page.frameNavigated', { frame: { id: 'main', url, unreachableUrl } })
  shown('https://a.example/')
  shown('chrome-error://chromewebdata/', 'https://b.example/')
  t.strictSame(reported, [])
  shown('https://b.example/')
  t.strictSame(reported, ['b.example'])
})
