import { EventEmitter } from 'node:events'
import t from 'tap'
import type { PageEvents } from '../../../../capture-runner/src/browser/page-events.ts'
import { FrameOrigins } from '../../../../capture-runner/src/http-cache/frame-origins.ts'

const SITE = 'https://site.example'
const OTHER = 'https://other.example'

function aPage() {
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
  const page = aPage()
  t.equal(page.keyOf('main'), undefined, 'no document yet')
  page.show(SITE)
  page.show(OTHER, 'frame')
  t.equal(page.keyOf('main'), `${SITE} ${SITE}`)
  t.equal(page.keyOf('frame'), `${SITE} ${OTHER}`)
  page.show(OTHER)
  t.equal(page.keyOf('main'), `${OTHER} ${OTHER}`)
})

t.test('keyOf is undefined for frames of other pages, frames that are gone, and frames without an origin', async (t) => {
  const page = aPage()
  page.show(SITE)
  page.show(SITE, 'frame')
  page.show('://', 'sandboxed')
  page.detach('frame')
  for (const frame of ['frame', 'sandboxed', 'unknown']) t.equal(page.keyOf(frame), undefined, frame)
  page.show('://')
  t.equal(page.keyOf('main'), undefined, 'a page without an origin')
})

t.test('keyOf is undefined for a document with Cross-Origin-Embedder-Policy', async (t) => {
  const page = aPage()
  page.receive('strict', { 'Cross-Origin-Embedder-Policy': 'require-corp' })
  page.receive('lax', { 'cross-origin-embedder-policy': 'unsafe-none' })
  page.show(SITE, 'main', 'strict')
  t.equal(page.keyOf('main'), undefined)
  page.show(SITE, 'main', 'lax')
  t.equal(page.keyOf('main'), `${SITE} ${SITE}`)
})
