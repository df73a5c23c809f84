import type { CDPSession } from 'playwright-core'
import t from 'tap'
import { directly } from '../../../capture-runner/src/devtools.ts'

/** A session as Playwright gives it, and what was done on it. */
function aSession(worker?: unknown) {
  const done: string[] = []
  const session = {
    send: async (name: string) => void done.push(`send ${name}`),
    on: (name: string) => void done.push(`on ${name}`),
    detach: async () => void done.push('detach'),
    ...(worker === undefined ? {} : { _connection: { toImpl: () => worker } }),
  }
  return { session: session as unknown as CDPSession, done }
}

t.test('directly asks Playwright’s inner session where it finds one, and detaches the outer', async (t) => {
  const asked: string[] = []
  class Inner {
    async send(name: string) {
      asked.push(name)
      return this instanceof Inner
    }
    on(name: string) {
      asked.push(name)
    }
  }
  const { session, done } = aSession({ _session: new Inner() })
  const direct = directly(session)
  t.equal(await direct.send('Page.enable'), true, 'as a method of its own')
  direct.on('Page.frameNavigated', () => {})
  await direct.detach()
  t.strictSame(asked, ['Page.enable', 'Page.frameNavigated'])
  t.strictSame(done, ['detach'])
})

for (const [name, worker] of [
  ['has no such way', undefined],
  ['has no inner session', {}],
  ['keeps one that takes no commands', { _session: { on: () => {} } }],
] as const) {
  t.test(`directly leaves the session as it is when Playwright ${name}`, async (t) => {
    const { session } = aSession(worker)
    t.equal(directly(session), session)
  })
}
