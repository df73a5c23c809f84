import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { CDPSession, Page } from 'playwright'
import t from 'tap'
import { directly, parentOf } from '../../../../capture-runner/src/browser/devtools.ts'
import { Lifecycle } from '../../../../capture-runner/src/browser/lifecycle.ts'
import { pageEventsOf } from '../../../../capture-runner/src/browser/page-events.ts'
import { followWorkers } from '../../../../capture-runner/src/browser/playwright-workers.ts'
import { assertEvery } from '../../../support/accepts.ts'
import { readSources } from '../../../support/sources/source-files.ts'

/** A session of Playwright's API. */
function sessionOf(worker?: unknown) {
  const session = {
    send: async () => {},
    on: () => {},
    ...(worker === undefined ? {} : { _connection: { toImpl: () => worker } }),
  }
  return session as unknown as CDPSession
}

/** The part of Playwright's implementation that is used. */
class Inner extends EventEmitter {
  readonly asked: string[] = []
  readonly children = new Map<string, Inner>()

  async send(name: string) {
    this.asked.push(name)
    return this instanceof Inner
  }

  createChildSession(sessionId: string) {
    const child = new Inner()
    this.children.set(sessionId, child)
    return child
  }

  disposeChildSession(sessionId: string) {
    this.children.delete(sessionId)
  }
}

t.test('directly uses Playwright’s inner session if it finds one', async (t) => {
  const inner = new Inner()
  const direct = directly(sessionOf({ _session: inner }))
  t.equal(await direct.send('Page.enable'), true, 'as a method of its own')
  direct.on('Page.frameNavigated', () => {})
  t.strictSame(inner.asked, ['Page.enable'])
  t.equal(inner.listenerCount('Page.frameNavigated'), 1)
})

for (const [name, worker] of [
  ['does not expose its implementation', undefined],
  ['has no inner session', {}],
  ['keeps one that takes no commands', { _session: { on: () => {} } }],
] as const) {
  t.test(`directly returns the session itself when Playwright ${name}`, async (t) => {
    const session = sessionOf(worker)
    t.equal(directly(session), session)
    t.equal(parentOf(session), undefined, 'it cannot have child sessions')
  })
}

t.test('parentOf is undefined when Playwright’s session cannot have child sessions', async (t) => {
  t.equal(parentOf(sessionOf({ _session: { send: async () => {}, on: () => {} } })), undefined)
})

t.test('parentOf returns nested sessions, and drops each when its target is gone', async (t) => {
  const inner = new Inner()
  const browser = parentOf(sessionOf({ _session: inner }))
  if (!browser) throw new Error('there is a way')
  const gone: string[] = []
  const page = browser.child('page', () => gone.push('page'))
  page.child('frame', () => gone.push('frame'))
  await page.send('Page.enable')
  const innerPage = inner.children.get('page')
  t.strictSame(innerPage?.asked, ['Page.enable'])
  innerPage?.emit('Target.detachedFromTarget', { sessionId: 'frame' })
  inner.emit('Target.detachedFromTarget', { sessionId: 'page' })
  inner.emit('Target.detachedFromTarget', { sessionId: 'page' })
  inner.emit('Target.detachedFromTarget', { sessionId: 'another’s' })
  t.strictSame(gone, ['frame', 'page'], 'each once')
  t.strictSame([inner.children.size, innerPage?.children.size], [0, 0])
})

t.test('parentOf ends all descendants of a lost session, innermost first', async (t) => {
  const inner = new Inner()
  const browser = parentOf(sessionOf({ _session: inner }))
  const gone: string[] = []
  const page = browser?.child('page', () => gone.push('page'))
  const worker = page?.child('worker', () => gone.push('worker'))
  worker?.child('nested', () => gone.push('nested'))
  inner.emit('Target.detachedFromTarget', { sessionId: 'page' })
  t.strictSame(gone, ['nested', 'worker', 'page'])
})

function aSession() {
  const sent: string[] = []
  const session = { on: () => {}, send: async (name: string) => void sent.push(name) }
  return { session: session as unknown as CDPSession, sent }
}

t.test('pageEventsOf uses Playwright’s own session if it finds it', async (t) => {
  const { session, sent } = aSession()
  const client = { on: () => {} }
  const toImpl = () => ({ delegate: { _mainFrameSession: { _client: client } } })
  t.equal(await pageEventsOf({ _connection: { toImpl } } as unknown as Page, session), client)
  t.strictSame(sent, [])
})

const changes = [
  { name: 'does not expose its implementation', page: {} },
  { name: 'does not know the page', page: { _connection: { toImpl: () => undefined } } },
  { name: 'has its session elsewhere', page: { _connection: { toImpl: () => ({ delegate: { _mainFrameSession: {} } }) } } },
]
for (const { name, page } of changes) {
  t.test(`pageEventsOf enables the same events on our session when Playwright ${name}`, async (t) => {
    const { session, sent } = aSession()
    t.equal(await pageEventsOf(page as unknown as Page, session), session)
    t.strictSame(sent, ['Page.enable', 'Page.setLifecycleEventsEnabled', 'Network.enable'])
  })
}

t.test('followWorkers counts the requests of workers and nested workers until they end', async (t) => {
  const client = new EventEmitter()
  const [outer, inner] = [new EventEmitter(), new EventEmitter()]
  const workers = new Map([
    ['outer', outer],
    ['inner', inner],
  ])
  const page = { _connection: { toImpl: () => ({ delegate: { _mainFrameSession: { _client: client, _workerSessions: workers } } }) } }
  const lifecycle = new Lifecycle(client as unknown as CDPSession, 'main')
  t.teardown(() => lifecycle.dispose())
  followWorkers(page as unknown as Page, lifecycle)
  const start = (parent: EventEmitter, name: string) => {
    parent.emit('Network.requestWillBeSent', { requestId: name, loaderId: '', type: 'Script', request: { url: '' } })
    parent.emit('Target.attachedToTarget', { sessionId: name, targetInfo: { targetId: name } })
  }
  start(client, 'outer')
  start(outer, 'inner')
  t.ok(lifecycle.isBusy)
  outer.emit('Network.loadingFinished', { requestId: 'outer' })
  client.emit('Target.attachedToTarget', { sessionId: 'a frame', targetInfo: { targetId: 'frame' } })
  client.emit('Target.detachedFromTarget', { sessionId: 'a frame' })
  t.ok(lifecycle.isBusy, 'the nested worker’s script is pending')
  client.emit('Target.detachedFromTarget', { sessionId: 'outer' })
  t.notOk(lifecycle.isBusy, 'both have ended')
})

t.test('followWorkers ignores a page of another version of Playwright', async (t) => {
  const lifecycle = new Lifecycle(new EventEmitter() as unknown as CDPSession, 'main')
  t.teardown(() => lifecycle.dispose())
  t.doesNotThrow(() => followWorkers({} as unknown as Page, lifecycle))
})

const INTERNALS = 'capture-runner/src/browser/playwright-internals.ts'
/** Members of other libraries' objects begin with an underscore if they are private. */
const PRIVATE = /(?<=[.{,;\s?])_[a-z]\w+(?=\??[:.,;)?\s])/g

/** HAR files name extensions in this way, too. */
const HAR = 'capture-runner/src/requests/har.ts'

const privateNamesOf = (code: string): string[] => [...new Set(code.match(PRIVATE))]

t.test('private names of Playwright are in one file', async (t) => {
  const files = readSources().filter(({ file }) => file.startsWith('capture-runner/src/'))
  t.ok(files.length > 100, `${files.length} files of the runner`)
  const strays = files.flatMap(({ file, code }) =>
    [INTERNALS, HAR].includes(file) ? [] : privateNamesOf(code).map((name) => `${file}: ${name}`),
  )
  t.strictSame(strays, [])
})

t.test('the installed Playwright has every private name that the runner uses', async (t) => {
  const { code } = readSources().find(({ file }) => file === INTERNALS)!
  const names = [...privateNamesOf(code), 'toImpl', 'delegate', 'createChildSession', 'disposeChildSession']
  t.ok(names.length > 8, names.join(' '))
  const require = createRequire(import.meta.url)
  const library = path.dirname(require.resolve('playwright-core/package.json'))
  const text = readFileSync(path.join(library, 'lib/coreBundle.js'), 'utf8')
  assertEvery(t, names, (name) => text.includes(name))
})
