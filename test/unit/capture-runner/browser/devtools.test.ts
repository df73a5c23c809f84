import { EventEmitter } from 'node:events'
import type { CDPSession } from 'playwright'
import t from 'tap'
import { directly, parentOf } from '../../../../capture-runner/src/browser/devtools.ts'

/** A session of Playwright's API. */
function aSession(worker?: unknown) {
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
  const direct = directly(aSession({ _session: inner }))
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
    const session = aSession(worker)
    t.equal(directly(session), session)
    t.equal(parentOf(session), undefined, 'it cannot have child sessions')
  })
}

t.test('parentOf is undefined when Playwright’s session cannot have child sessions', async (t) => {
  t.equal(parentOf(aSession({ _session: { send: async () => {}, on: () => {} } })), undefined)
})

t.test('parentOf returns nested sessions, and drops each when its target is gone', async (t) => {
  const inner = new Inner()
  const browser = parentOf(aSession({ _session: inner }))
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
  const browser = parentOf(aSession({ _session: inner }))
  const gone: string[] = []
  const page = browser?.child('page', () => gone.push('page'))
  const worker = page?.child('worker', () => gone.push('worker'))
  worker?.child('nested', () => gone.push('nested'))
  inner.emit('Target.detachedFromTarget', { sessionId: 'page' })
  t.strictSame(gone, ['nested', 'worker', 'page'])
})
