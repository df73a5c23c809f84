import type { CDPSession, Page } from 'playwright'
import t from 'tap'
import { pageEventsOf } from '../../../../capture-runner/src/browser/page-events.ts'

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
