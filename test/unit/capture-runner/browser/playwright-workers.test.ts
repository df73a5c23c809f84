import { EventEmitter } from 'node:events'
import type { CDPSession, Page } from 'playwright'
import t from 'tap'
import { Lifecycle } from '../../../../capture-runner/src/browser/lifecycle.ts'
import { followWorkers } from '../../../../capture-runner/src/browser/playwright-workers.ts'

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
