import { EventEmitter } from 'node:events'
import t from 'tap'
import type { PageEvents } from '../../../../capture-runner/src/browser/page-events.ts'
import { Requesters } from '../../../../capture-runner/src/requests/requesters.ts'

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
