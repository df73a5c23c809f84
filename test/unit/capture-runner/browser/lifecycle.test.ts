import { EventEmitter } from 'node:events'
import type { WaitState } from '@tintype/crds/options/page/loading'
import type { CDPSession } from 'playwright'
import t, { type Test } from 'tap'
import { Lifecycle } from '../../../../capture-runner/src/browser/lifecycle.ts'
import { stopClock } from '../../../support/fakes/stop-clock.ts'

const MAIN = 'main-frame'

/** A lifecycle and functions that send its events in the order observed for real pages. */
function aPage(t: Test) {
  const session = new EventEmitter()
  const lifecycle = new Lifecycle(session as unknown as CDPSession, MAIN)
  t.teardown(() => lifecycle.dispose())
  const send = (name: string, event: object) => session.emit(name, event)
  const page = {
    lifecycle,
    emit: send,
    start: (loader: string, url = `https://${loader}.example/`, navigationType = 'differentDocument') => {
      send('Page.frameStartedNavigating', { frameId: MAIN, loaderId: loader, url, navigationType })
      page.request(loader, { loader, url })
    },
    request: (id: string, { loader = id, url = 'https://x.example/', type = 'Document', frame = MAIN, postData = '' } = {}) =>
      send('Network.requestWillBeSent', {
        requestId: id,
        loaderId: loader,
        frameId: frame,
        type,
        request: { method: 'GET', url, postData },
      }),
    answer: (id: string, status = 200, headers = {}) =>
      send('Network.responseReceived', { requestId: id, frameId: MAIN, response: { status, url: 'u', mimeType: 'Text/CSV', headers } }),
    finish: (id: string) => send('Network.loadingFinished', { requestId: id }),
    lose: (id: string, errorText: string, canceled = false) => send('Network.loadingFailed', { requestId: id, errorText, canceled }),
    commit: (loader: string, unreachableUrl?: string) =>
      send('Page.frameNavigated', { frame: { id: MAIN, loaderId: loader, url: `https://${loader}.example/#top`, unreachableUrl } }),
    reach: (loader: string, name: string) => send('Page.lifecycleEvent', { frameId: MAIN, loaderId: loader, name }),
    schedule: (delay: number, url: string, reason = 'metaTagRefresh') =>
      send('Page.frameScheduledNavigation', { frameId: MAIN, delay, reason, url }),
    takeBack: () => send('Page.frameClearedScheduledNavigation', { frameId: MAIN }),
    stop: () => send('Page.frameStoppedLoading', { frameId: MAIN }),
    load: (loader: string) => {
      page.reach(loader, 'DOMContentLoaded')
      page.reach(loader, 'load')
      page.stop()
    },
  }
  return page
}

/** The same with a document, whose own request is still pending. */
function aShownPage(t: Test) {
  const page = aPage(t)
  page.start('a')
  page.commit('a')
  return page
}

/** Whether the states have been reached. */
async function isThere(lifecycle: Lifecycle, states: WaitState[] = ['load']): Promise<boolean> {
  const now = new AbortController()
  const reached = lifecycle.reach(states, now.signal).then(
    () => true,
    () => false,
  )
  await new Promise((resolve) => setImmediate(resolve))
  now.abort(new Error('not yet'))
  return reached
}

t.test('Lifecycle reaches each state at its event', async (t) => {
  const page = aPage(t)
  t.notOk(await isThere(page.lifecycle, ['commit']))
  page.start('a')
  t.notOk(await isThere(page.lifecycle, ['commit']))
  page.answer('a', 404)
  page.commit('a')
  t.ok(await isThere(page.lifecycle, ['commit']))
  t.match(page.lifecycle.response, { status: 404 })
  t.notOk(await isThere(page.lifecycle, ['domcontentloaded']))
  page.reach('a', 'DOMContentLoaded')
  t.ok(await isThere(page.lifecycle, ['domcontentloaded', 'commit']))
  t.notOk(await isThere(page.lifecycle, ['load', 'commit']))
  page.reach('a', 'load')
  t.ok(await isThere(page.lifecycle))
  t.strictSame(page.lifecycle.missing(['load', 'networkidle']), ['networkidle'])
})

t.test('Lifecycle follows a page that navigates before it has loaded', async (t) => {
  const page = aShownPage(t)
  page.start('b')
  page.load('a')
  t.notOk(await isThere(page.lifecycle), 'the first document is left')
  page.answer('b', 500)
  page.commit('b')
  t.notOk(await isThere(page.lifecycle))
  page.load('b')
  t.ok(await isThere(page.lifecycle))
  t.match(page.lifecycle, { document: 'b', response: { status: 500 }, failure: undefined })
})

t.test('Lifecycle.leave waits for the request of another document', async (t) => {
  const page = aShownPage(t)
  page.load('a')
  let hasLeft = false
  const leaving = page.lifecycle.leave(new AbortController().signal).then(() => {
    hasLeft = true
  })
  page.start('same', undefined, 'sameDocument')
  await Promise.resolve()
  t.notOk(hasLeft, 'a same-document navigation does not count')
  page.start('b')
  await leaving
  t.ok(hasLeft)
})

t.test('Lifecycle ignores same-document navigations and other frames', async (t) => {
  const page = aShownPage(t)
  page.load('a')
  page.start('same', undefined, 'sameDocument')
  t.notOk(page.lifecycle.isMoving)
  t.ok(await isThere(page.lifecycle))
})

t.test('Lifecycle keeps the document that starts a download', async (t) => {
  const page = aShownPage(t)
  page.start('download')
  t.ok(page.lifecycle.isMoving)
  page.lose('download', 'net::ERR_ABORTED', true)
  page.stop()
  t.notOk(page.lifecycle.isMoving)
  t.ok(await isThere(page.lifecycle), 'its load event is never sent')
  t.equal(page.lifecycle.failure, undefined)
})

t.test('Lifecycle reports a document that failed to load, with its last URL', async (t) => {
  const page = aPage(t)
  page.start('a')
  page.request('a', { url: 'https://after-redirect.example/' })
  page.lose('a', 'net::ERR_CONNECTION_RESET')
  page.commit('a', 'https://after-redirect.example/')
  t.ok(await isThere(page.lifecycle), 'there is nothing more to wait for')
  t.strictSame(page.lifecycle.failure, { url: 'https://after-redirect.example/', netError: 'net::ERR_CONNECTION_RESET', kind: 'network' })
})

t.test('Lifecycle treats the browser’s error page as a failure after any other event', async (t) => {
  const page = aPage(t)
  page.start('a')
  page.commit('a', 'https://a.example/')
  t.match(page.lifecycle.failure, { url: 'https://a.example/', kind: 'network' })
})

t.test('Lifecycle fails a page that keeps navigating', async (t) => {
  const page = aPage(t)
  for (let i = 0; i < 21; i++) {
    page.start(`d${i}`)
    page.commit(`d${i}`)
  }
  t.match(page.lifecycle.failure, { kind: 'loop' })
  t.ok(await isThere(page.lifecycle))
})

t.test('Lifecycle counts the network as idle after half a second without requests', async (t) => {
  const clock = stopClock(t)
  const page = aShownPage(t)
  page.request('image', { loader: 'a', type: 'Image' })
  page.finish('a')
  clock.tick(5_000)
  t.strictSame(page.lifecycle.missing(['networkidle']), ['networkidle'], 'the image is still pending')
  page.finish('image')
  clock.tick(400)
  page.request('late', { loader: 'a', type: 'Fetch' })
  clock.tick(400)
  page.lose('late', 'net::ERR_FAILED')
  clock.tick(499)
  t.strictSame(page.lifecycle.missing(['networkidle']), ['networkidle'])
  clock.tick(1)
  t.strictSame(page.lifecycle.missing(['networkidle']), [])
})

t.test('Lifecycle waits neither for streams nor for requests of a previous document', async (t) => {
  const clock = stopClock(t)
  const page = aShownPage(t)
  page.request('never-ends', { loader: 'a', type: 'Fetch' })
  page.start('b')
  page.commit('b')
  page.finish('b')
  page.request('stream', { loader: 'b', type: 'EventSource' })
  clock.tick(500)
  t.strictSame(page.lifecycle.missing(['networkidle']), [])
  t.equal(page.lifecycle.requests, 4)
})

t.test('reach throws the reason of its signal', async (t) => {
  const page = aPage(t)
  const late = new Error('late')
  await t.rejects(page.lifecycle.reach(['load'], AbortSignal.abort(late)), late)
})

t.test('Lifecycle returns the pending requests that affect painting', async (t) => {
  const page = aShownPage(t)
  page.request('image', { loader: 'a', type: 'Image' })
  page.request('font', { loader: 'a', type: 'Font' })
  page.request('script', { loader: 'a', type: 'Script' })
  t.strictSame([...page.lifecycle.painting], ['image', 'font'])
  const [pending] = page.lifecycle.pendingImages
  page.request('image', { loader: 'a', type: 'Image', url: 'http://page.test/moved.png' })
  t.strictSame(page.lifecycle.pendingImages, [pending], 'the URL before the redirect')
  page.finish('image')
  page.lose('font', 'net::ERR_FAILED')
  t.equal(page.lifecycle.painting.size, 0)
  page.request('late', { loader: 'a', type: 'Image' })
  page.start('b')
  page.commit('b')
  t.equal(page.lifecycle.painting.size, 0, 'no requests of the previous document')
})

t.test('Lifecycle is busy while requests other than streams are pending', async (t) => {
  const page = aShownPage(t)
  page.finish('a')
  t.notOk(page.lifecycle.isBusy)
  page.request('stream', { loader: 'a', type: 'EventSource' })
  t.notOk(page.lifecycle.isBusy)
  page.request('data', { loader: 'a', type: 'Fetch' })
  t.ok(page.lifecycle.isBusy)
  page.finish('data')
  t.notOk(page.lifecycle.isBusy)
})

t.test('a worker does not keep Lifecycle busy: its requests end on its own session, or with it', async (t) => {
  const page = aShownPage(t)
  page.finish('a')
  page.request('worker', { loader: '', type: 'Script' })
  const session = new EventEmitter()
  const end = page.lifecycle.followWorker(session as unknown as CDPSession, 'worker')
  t.ok(page.lifecycle.isBusy, 'its script is pending')
  t.ok((page.lifecycle.lastWorker ?? Number.POSITIVE_INFINITY) <= performance.now(), 'it runs')
  const ask = (requestId: string) =>
    session.emit('Network.requestWillBeSent', { requestId, loaderId: '', type: 'Fetch', request: { url: 'https://x.example/' } })
  ask('first')
  session.emit('Network.loadingFinished', { requestId: 'worker' })
  t.ok(page.lifecycle.isBusy, 'it has sent a request')
  ask('second')
  session.emit('Network.loadingFailed', { requestId: 'first' })
  t.ok(page.lifecycle.isBusy)
  end()
  t.notOk(page.lifecycle.isBusy)
  t.equal(page.lifecycle.lastWorker, undefined)
  t.equal(page.lifecycle.requests, 4)
})

t.test('Lifecycle describes a document that is downloaded instead of shown', async (t) => {
  const page = aPage(t)
  page.start('a')
  page.answer('a', 200, { 'Content-Disposition': 'Attachment; filename=x' })
  page.lose('a', 'net::ERR_ABORTED', true)
  t.strictSame(page.lifecycle.download, { status: 200, url: 'u', mimeType: 'text/csv', isAttachment: true })
  t.equal(page.lifecycle.failure, undefined)
})

t.test('Lifecycle reports that the document’s response broke off, before or after the commit', async (t) => {
  const page = aPage(t)
  page.start('a')
  page.answer('a')
  page.commit('a')
  t.equal(page.lifecycle.brokenOff, undefined)
  page.lose('a', 'net::ERR_CONTENT_LENGTH_MISMATCH')
  t.equal(page.lifecycle.brokenOff, 'net::ERR_CONTENT_LENGTH_MISMATCH')
  page.start('b')
  page.answer('b')
  page.lose('b', 'net::ERR_CONNECTION_RESET')
  page.commit('b')
  t.match(page.lifecycle, { brokenOff: 'net::ERR_CONNECTION_RESET', failure: undefined })
  page.start('c')
  page.answer('c')
  page.commit('c')
  t.equal(page.lifecycle.brokenOff, undefined, 'the next document is complete')
})

t.test('Lifecycle treats a broken response as a failure if the browser shows its error page', async (t) => {
  const page = aPage(t)
  page.start('a')
  page.answer('a')
  page.lose('a', 'net::ERR_INVALID_RESPONSE')
  page.commit('a', 'https://a.example/')
  t.strictSame(page.lifecycle.failure, { url: 'https://a.example/', netError: 'net::ERR_INVALID_RESPONSE', kind: 'network' })
})

t.test('Lifecycle waits for a refresh that is due soon, until it begins, is canceled or does not come', async (t) => {
  const clock = stopClock(t)
  const page = aShownPage(t)
  page.load('a')
  page.schedule(30, 'https://b.example/')
  page.schedule(1, 'https://a.example/')
  page.schedule(1, 'https://b.example/', 'scriptInitiated')
  t.ok(await isThere(page.lifecycle), 'too late, the same page, and no refresh')
  page.schedule(2, 'https://b.example/')
  t.notOk(await isThere(page.lifecycle))
  page.takeBack()
  t.ok(await isThere(page.lifecycle), 'canceled')
  page.schedule(2, 'https://b.example/')
  clock.tick(3_500)
  t.ok(await isThere(page.lifecycle), 'it did not begin')
  page.schedule(2, 'https://b.example/')
  page.start('b')
  page.lose('b', 'net::ERR_ABORTED', true)
  t.ok(await isThere(page.lifecycle), 'it led to a download')
})

t.test('Lifecycle names pending requests for content that are old enough', async (t) => {
  const page = aShownPage(t)
  page.finish('a')
  page.request('1', { loader: 'a', url: 'https://a.example/data', type: 'Fetch' })
  page.request('2', { loader: 'a', url: 'https://a.example/pixel', type: 'Image' })
  page.request('3', { loader: 'a', url: 'blob:https://a.example/worker-that-computes', type: 'Script' })
  t.strictSame(page.lifecycle.pendingContent(performance.now() + 1), ['https://a.example/data'])
  t.strictSame(page.lifecycle.pendingContent(performance.now() - 10_000), [])
  page.finish('1')
  t.strictSame(page.lifecycle.pendingContent(performance.now() + 1), [])
})

for (const [what, name, event] of [
  ['a socket', 'Network.webSocketCreated', {}],
  ['a message of a socket', 'Network.webSocketFrameReceived', {}],
  ['an event of a stream', 'Network.eventSourceMessageReceived', {}],
  ['WebAssembly', 'Network.responseReceived', { requestId: '1', frameId: MAIN, response: { mimeType: 'application/wasm' } }],
] as const) {
  t.test(`Lifecycle knows that a document has live data: ${what}`, async (t) => {
    const page = aShownPage(t)
    t.notOk(page.lifecycle.hasLiveData)
    page.emit(name, event)
    t.ok(page.lifecycle.hasLiveData)
    page.start('b')
    page.commit('b')
    t.notOk(page.lifecycle.hasLiveData, 'the next document has none')
  })
}

t.test('Lifecycle takes a response for a stream if its parts come one after the other', async (t) => {
  const page = aShownPage(t)
  page.request('1', { loader: 'a', type: 'Fetch' })
  const before = page.lifecycle.trafficAt
  page.emit('Network.dataReceived', { requestId: '1' })
  t.ok(page.lifecycle.trafficAt >= before)
  t.notOk(page.lifecycle.hasLiveData)
  await new Promise((next) => setTimeout(next, 120))
  page.emit('Network.dataReceived', { requestId: '1' })
  t.ok(page.lifecycle.hasLiveData)
})

t.test('Lifecycle.hasNewRequests leaves out polls and streams', async (t) => {
  const page = aShownPage(t)
  const later = performance.now() + 10_000
  const isNew = (url: string, type = 'Fetch', postData = '') => {
    page.request(url, { loader: 'a', url, type, postData })
    const answer = page.lifecycle.hasNewRequests(0, later)
    page.finish(url)
    return answer
  }
  t.ok(isNew('https://a.example/who'))
  t.ok(isNew('https://a.example/data?page=1', 'XHR'))
  t.ok(isNew('https://a.example/data?page=2', 'XHR'))
  t.ok(isNew('https://a.example/graphql', 'Fetch', '{ who }'))
  t.ok(isNew('https://a.example/graphql', 'Fetch', '{ data }'), 'the body counts')
  t.ok(isNew('https://a.example/poll?t=1790000000000'))
  t.notOk(isNew('https://a.example/poll?t=1790000001000'))
  t.notOk(isNew('https://a.example/frame', 'Document'))
  t.notOk(isNew('https://a.example/events', 'EventSource'))
  const { newContentAt } = page.lifecycle
  t.notOk(isNew('https://a.example/who'))
  t.equal(page.lifecycle.newContentAt, newContentAt)
  t.ok(isNew('https://a.example/image', 'Image'))
  t.ok(page.lifecycle.newContentAt >= newContentAt)
})

t.test('Lifecycle.hasUnanswered reports sockets and streams from which nothing came', async (t) => {
  const page = aShownPage(t)
  t.notOk(page.lifecycle.hasUnanswered(0))
  page.emit('Network.webSocketCreated', { requestId: 's' })
  t.ok(page.lifecycle.hasUnanswered(0), 'the server may speak first')
  page.emit('Network.webSocketFrameReceived', { requestId: 's' })
  t.notOk(page.lifecycle.hasUnanswered(0))
  page.emit('Network.webSocketFrameSent', { requestId: 's' })
  const asked = performance.now()
  page.emit('Network.webSocketFrameSent', { requestId: 's' })
  t.ok(page.lifecycle.hasUnanswered(0))
  t.notOk(page.lifecycle.hasUnanswered(asked + 1), 'the first question counts')
  page.emit('Network.webSocketClosed', { requestId: 's' })
  t.notOk(page.lifecycle.hasUnanswered(0))
  page.request('e', { loader: 'a', type: 'EventSource' })
  t.ok(page.lifecycle.hasUnanswered(0))
  page.emit('Network.eventSourceMessageReceived', { requestId: 'e' })
  t.notOk(page.lifecycle.hasUnanswered(0))
})
