import { EventEmitter } from 'node:events'
import t from 'tap'
import { Lifecycle } from '../../../../capture-runner/src/browser/lifecycle.ts'
import type { Tab } from '../../../../capture-runner/src/browser/tab.ts'
import { TaskWatch } from '../../../../capture-runner/src/browser/task-watch.ts'

/** A page whose thread has used this processor time at each question. It responds to expressions only if `responds`. */
function open({ responds, thread }: { responds: boolean; thread: () => number | undefined }) {
  const events = new EventEmitter()
  let asked = 0
  const session = {
    on: events.on.bind(events),
    send: (method: string) => {
      if (method === 'Performance.getMetrics') {
        asked += 1
        const value = thread()
        return value === undefined ? new Promise(() => {}) : Promise.resolve({ metrics: [{ name: 'ThreadTime', value }] })
      }
      return responds ? Promise.resolve({}) : new Promise(() => {})
    },
  } as unknown as Tab['session']
  const lifecycle = new Lifecycle(session, 'main')
  const { promise, resolve } = Promise.withResolvers<Tab['session']>()
  const hung = Promise.withResolvers<void>()
  const limits = { task: 500, hung: 1_500 }
  const watch = new TaskWatch({ session, lifecycle, foreignFrames: () => [] }, { onLongTask: resolve, onHung: hung.resolve }, limits)
  t.teardown(() => {
    lifecycle.dispose()
    watch.stop()
  })
  watch.start(new AbortController().signal)
  return {
    session,
    events,
    found: promise,
    isFound: isSettled(promise),
    hung: hung.promise,
    isHung: isSettled(hung.promise),
    asked: () => asked,
    watch,
  }
}

function isSettled(promise: Promise<unknown>): () => boolean {
  let settled = false
  promise.then(() => {
    settled = true
  })
  return () => settled
}

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((next) => setTimeout(next, 20))
}

t.test('TaskWatch notices a page that does not respond while its thread works', async (t) => {
  let seconds = 0
  const { session, found } = open({
    responds: false,
    thread: () => {
      seconds += 0.25
      return seconds
    },
  })
  t.equal(await found, session)
})

t.test('TaskWatch gives a page longer that may wait for a synchronous request', async (t) => {
  const { events, isFound, isHung, hung, asked } = open({ responds: false, thread: () => 1 })
  events.emit('Network.requestWillBeSent', {
    requestId: '1',
    frameId: 'main',
    type: 'XHR',
    request: { url: 'http://a.test/', method: 'GET' },
  })
  await until(() => asked() > 7)
  t.notOk(isFound())
  t.notOk(isHung(), 'a page without a request hangs after six checks')
  await hung
  t.notOk(isFound())
})

t.test('a page that waited for a stopped GPU process ended its capture and its neighbor’s in TIMEOUT after 30 s', async (t) => {
  const { isFound, hung } = open({ responds: false, thread: () => 1 })
  await hung
  t.notOk(isFound())
})

t.test('so did a page whose own process was stopped, because nobody watched for the answers between two frames', async (t) => {
  const { isFound, hung } = open({ responds: false, thread: () => undefined })
  await hung
  t.notOk(isFound())
})

t.test('TaskWatch ignores a page that answers nothing, because its process is about to change', async (t) => {
  const { isFound, asked } = open({ responds: false, thread: () => undefined })
  await until(() => asked() > 3)
  t.notOk(isFound())
})

t.test('TaskWatch asks for no processor time of a page that responds', async (t) => {
  const { asked, watch } = open({ responds: true, thread: () => 1 })
  await new Promise((next) => setTimeout(next, 600))
  watch.stop()
  t.equal(asked(), 0)
})

t.test('TaskWatch ends its question when the page navigates', async (t) => {
  let seconds = 0
  const { events, isFound, asked } = open({
    responds: false,
    thread: () => {
      seconds += 0.01
      return seconds
    },
  })
  await until(() => asked() > 0)
  events.emit('Page.frameStartedNavigating', { frameId: 'main', loaderId: '2', url: 'http://a.test/', navigationType: 'differentDocument' })
  const before = asked()
  await new Promise((next) => setTimeout(next, 600))
  t.ok(asked() <= before + 1, `${asked()} after ${before}`)
  t.notOk(isFound())
})
