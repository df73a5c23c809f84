import { EventEmitter } from 'node:events'
import t from 'tap'
import type { PageEvents } from '../../../../capture-runner/src/browser/devtools.ts'
import type { Tab } from '../../../../capture-runner/src/browser/tab.ts'
import { HttpCache } from '../../../../capture-runner/src/http-cache/http-cache.ts'
import { FrameOrigins, SharedResponses } from '../../../../capture-runner/src/http-cache/shared-responses.ts'

const SITE = 'https://site.example'
const URL = `${SITE}/a.js`
const BODY = 'var a'
const FRESH = { 'cache-control': 'max-age=600' }
type Event = [name: string, details: object]

/** The events of a storable request, in the usual order. */
const COMPLETE: readonly Event[] = [
  ['Network.requestWillBeSentExtraInfo', { headers: { Accept: '*/*' } }],
  ['Network.responseReceivedExtraInfo', { statusCode: 200, headers: FRESH }],
  ['Network.responseReceived', { type: 'Script', response: { url: URL, headers: FRESH } }],
  ['Network.dataReceived', { dataLength: 2 }],
  ['Network.dataReceived', { dataLength: BODY.length - 2 }],
  ['Network.loadingFinished', {}],
]
const instead = (name: string, details: object): Event[] => COMPLETE.map((event) => (event[0] === name ? [name, details] : event))

/** A page of a site whose browser returns a body. */
function aPage(cache = new HttpCache(), body: object = { body: BODY, base64Encoded: false }) {
  const events = new EventEmitter()
  const sent: string[] = []
  const session = {
    on: events.on.bind(events),
    send: async (method: string) => {
      sent.push(method)
      return body
    },
  }
  const batch = cache.open('account', 'partition')
  if (!batch) throw new Error('it shares something')
  const tab = { session, mainFrame: 'main' } as unknown as Tab
  const shared = new SharedResponses(tab, batch)
  events.emit('Page.frameNavigated', { frame: { id: 'main', loaderId: '1', securityOrigin: SITE } })
  const held = { frameId: 'main', networkId: 'r1', resourceType: 'Script', request: { method: 'GET', url: URL } }
  return {
    shared,
    sent,
    ask: (change: object = {}, headers: Record<string, string> = { Accept: '*/*' }) => shared.find({ ...held, ...change }, headers),
    play: async (played: readonly Event[]) => {
      for (const [name, details] of played) events.emit(name, { requestId: 'r1', ...details })
      await new Promise((done) => setImmediate(done))
    },
  }
}

/** Whether the next page finds the response to the first one. */
async function isStored(played: readonly Event[], body?: object): Promise<boolean> {
  const cache = new HttpCache()
  const first = aPage(cache, body)
  first.ask()
  await first.play(played)
  return aPage(cache).ask() !== undefined
}

t.test('a response is stored when all events have arrived, in any order', async (t) => {
  t.ok(await isStored(COMPLETE))
  t.ok(await isStored([...COMPLETE.slice(1), ...COMPLETE.slice(0, 1)]), 'the request’s headers come last')
  t.ok(await isStored([...COMPLETE.slice(0, 1), ...COMPLETE.slice(2), ...COMPLETE.slice(1, 2)]), 'the response’s headers come last')
  for (const [index, [name]] of COMPLETE.entries())
    if (name !== 'Network.responseReceived') t.notOk(await isStored(COMPLETE.toSpliced(index, 1)), `without ${name}`)
})

const refused: { name: string; played: readonly Event[]; body?: object }[] = [
  { name: 'a cookie was sent', played: instead('Network.requestWillBeSentExtraInfo', { headers: { Cookie: 'a=b' } }) },
  { name: 'credentials were sent', played: instead('Network.requestWillBeSentExtraInfo', { headers: { Authorization: 'x' } }) },
  {
    name: 'a cookie was set',
    played: instead('Network.responseReceivedExtraInfo', { statusCode: 200, headers: { ...FRESH, 'Set-Cookie': 'a=b' } }),
  },
  { name: 'it was redirected', played: instead('Network.responseReceivedExtraInfo', { statusCode: 302, headers: FRESH }) },
  { name: 'it came from the disk cache', played: instead('Network.responseReceived', { response: { url: URL, fromDiskCache: true } }) },
  { name: 'a service worker made it', played: instead('Network.responseReceived', { response: { url: URL, fromServiceWorker: true } }) },
  { name: 'it is of another URL', played: instead('Network.responseReceived', { response: { url: `${URL}?` } }) },
  { name: 'it broke off', played: COMPLETE.toSpliced(-1, 1, ['Network.loadingFailed', {}]) },
  { name: 'it is too large', played: COMPLETE.toSpliced(-1, 0, ['Network.dataReceived', { dataLength: 5 * 2 ** 20 }]) },
  { name: 'the body has another length', played: COMPLETE, body: { body: 'var', base64Encoded: false } },
]

for (const { name, played, body } of refused)
  t.test(`a response is not stored when ${name}`, async (t) => {
    t.notOk(await isStored(played, body))
  })

t.test('find serves and stores scripts, styles, fonts and images of the page’s own frames, but not after a redirect', async (t) => {
  for (const change of [
    { resourceType: 'Document' },
    { resourceType: 'Fetch' },
    { resourceType: 'Other' },
    { frameId: 'another' },
    { redirectedRequestId: 'r0' },
    { networkId: undefined },
  ]) {
    const cache = new HttpCache()
    const page = aPage(cache)
    page.ask(change)
    await page.play(COMPLETE)
    t.strictSame(page.sent, [], `${JSON.stringify(change)} is not read`)
    page.ask()
    await page.play(COMPLETE)
    t.equal(aPage(cache).ask(change), undefined, `${JSON.stringify(change)} is not answered`)
  }
})

t.test('find distinguishes CORS requests from others', async (t) => {
  const cache = new HttpCache()
  const page = aPage(cache)
  page.ask()
  await page.play(COMPLETE)
  t.equal(aPage(cache).ask({}, { Accept: '*/*', Origin: SITE }), undefined)
})

t.test('hits contains the requests that were served', async (t) => {
  const cache = new HttpCache()
  const first = aPage(cache)
  first.ask()
  await first.play(COMPLETE)
  const second = aPage(cache)
  second.ask({ networkId: 'r7' })
  second.ask({ networkId: 'r8', request: { method: 'GET', url: `${SITE}/b.js` } })
  t.strictSame([...first.shared.hits, ...second.shared.hits], ['r7'])
})

const OTHER = 'https://other.example'

function pageOfFrames() {
  const events = new EventEmitter()
  const origins = new FrameOrigins(events as unknown as PageEvents, 'main')
  return {
    keyOf: (frameId: string) => origins.keyOf(frameId),
    receive: (loaderId: string, headers: Record<string, string>) =>
      void events.emit('Network.responseReceived', { type: 'Document', loaderId, response: { headers } }),
    show: (securityOrigin: string, id = 'main', loaderId = '1') =>
      void events.emit('Page.frameNavigated', { frame: { id, loaderId, securityOrigin } }),
    detach: (frameId: string) => void events.emit('Page.frameDetached', { frameId }),
  }
}

t.test('keyOf names the origins of the page and of the frame', async (t) => {
  const page = pageOfFrames()
  t.equal(page.keyOf('main'), undefined, 'no document yet')
  page.show(SITE)
  page.show(OTHER, 'frame')
  t.equal(page.keyOf('main'), `${SITE} ${SITE}`)
  t.equal(page.keyOf('frame'), `${SITE} ${OTHER}`)
  page.show(OTHER)
  t.equal(page.keyOf('main'), `${OTHER} ${OTHER}`)
})

t.test('keyOf is undefined for frames of other pages, frames that are gone, and frames without an origin', async (t) => {
  const page = pageOfFrames()
  page.show(SITE)
  page.show(SITE, 'frame')
  page.show('://', 'sandboxed')
  page.detach('frame')
  for (const frame of ['frame', 'sandboxed', 'unknown']) t.equal(page.keyOf(frame), undefined, frame)
  page.show('://')
  t.equal(page.keyOf('main'), undefined, 'a page without an origin')
})

t.test('keyOf is undefined for a document with Cross-Origin-Embedder-Policy', async (t) => {
  const page = pageOfFrames()
  page.receive('strict', { 'Cross-Origin-Embedder-Policy': 'require-corp' })
  page.receive('lax', { 'cross-origin-embedder-policy': 'unsafe-none' })
  page.show(SITE, 'main', 'strict')
  t.equal(page.keyOf('main'), undefined)
  page.show(SITE, 'main', 'lax')
  t.equal(page.keyOf('main'), `${SITE} ${SITE}`)
})
