import t from 'tap'
import type { CaptureResponse, RunnerResponse } from '../../../../operator/src/runner/runner-client.ts'
import { CaptureWatcher } from '../../../../operator/src/scheduling/dispatch-tracker.ts'

/** A captureWatcher with runners that respond when the test says so, and a manual clock. */
function setUp() {
  const asked: {
    uid: string
    attempt: number
    until: string | undefined
    respond: (response: CaptureResponse, afterMilliseconds?: number, isTaken?: boolean) => Promise<void>
  }[] = []
  const taken: string[] = []
  const changes: string[] = []
  const canceled: string[] = []
  const world = { mayStart: true, now: 0 }
  const captureWatcher = new CaptureWatcher({
    client: {
      getCapture: (_address, uid, attempt, wait) => {
        const { promise, resolve } = Promise.withResolvers<RunnerResponse>()
        const respond = async (response: CaptureResponse, afterMilliseconds = 30_000, isTaken = false) => {
          world.now += afterMilliseconds
          resolve({ response, isTaken })
          await new Promise((done) => setImmediate(done))
        }
        asked.push({ uid, attempt, until: wait?.until, respond })
        return promise
      },
      cancel: async (_address, uid) => void canceled.push(uid),
    },
    onChange: (key) => void changes.push(key),
    onTaken: (key, podUid) => void taken.push(`${key} ${podUid}`),
    mayStart: () => world.mayStart,
    now: () => new Date(world.now),
  })
  const watch = (attempt = 1) =>
    captureWatcher.watch({ key: 'a', uid: 'uid', attempt, podUid: `pod-${attempt}`, address: { uid: 'pod', ip: '' } })
  return { asked, changes, taken, canceled, captureWatcher, world, watch }
}

t.test('CaptureWatcher polls an attempt once, and reports that its runner gave it up', async (t) => {
  const { asked, changes, watch } = setUp()
  watch()
  watch()
  t.equal(asked.length, 1)
  await asked[0]?.respond('absent')
  t.strictSame(changes, ['a'])
})

t.test('CaptureWatcher reports a runner that no longer responds', async (t) => {
  const { asked, changes, watch } = setUp()
  watch()
  await asked[0]?.respond('silent')
  t.strictSame(changes, ['a'])
})

t.test('CaptureWatcher reports once that a picture is taken, and polls on until the end', async (t) => {
  const { asked, changes, taken, watch } = setUp()
  watch()
  t.equal(asked[0]?.until, 'taken')
  await asked[0]?.respond('running', 100, true)
  t.strictSame(taken, ['a pod-1'])
  t.equal(asked[1]?.until, 'finished')
  await asked[1]?.respond('running', 30_000, true)
  t.equal(asked[2]?.until, 'finished')
  await asked[2]?.respond('absent')
  t.strictSame([taken, changes], [['a pod-1'], ['a']])
})

t.test('CaptureWatcher reports no picture after it lost leadership', async (t) => {
  const { asked, taken, world, watch } = setUp()
  watch()
  world.mayStart = false
  await asked[0]?.respond('running', 100, true)
  t.strictSame(taken, [])
  t.equal(asked.length, 1)
})

t.test('CaptureWatcher leaves a report to the watch', async (t) => {
  const { asked, changes, watch } = setUp()
  watch()
  await asked[0]?.respond('reporting')
  t.strictSame(changes, [])
  t.equal(asked.length, 1)
})

t.test('CaptureWatcher polls again while the capture runs', async (t) => {
  const { asked, changes, watch } = setUp()
  watch()
  await asked[0]?.respond('running')
  await asked[1]?.respond('absent')
  t.strictSame(changes, ['a'])
})

t.test('CaptureWatcher stops polling a runner that does not support long polling', async (t) => {
  const { asked, watch } = setUp()
  watch()
  await asked[0]?.respond('running', 5)
  t.equal(asked.length, 1)
})

t.test('CaptureWatcher reports nothing about an attempt that was replaced', async (t) => {
  const { asked, changes, watch } = setUp()
  watch(1)
  watch(2)
  await asked[0]?.respond('absent')
  t.strictSame(changes, [])
  await asked[1]?.respond('absent')
  t.strictSame(changes, ['a'])
})

t.test('CaptureWatcher reports nothing after it lost leadership', async (t) => {
  const { asked, changes, world, watch } = setUp()
  watch()
  world.mayStart = false
  await asked[0]?.respond('absent')
  t.strictSame(changes, [])
})

t.test('CaptureWatcher cancels the capture of a runner that is lost to the cluster, and ignores it afterwards', async (t) => {
  const { asked, changes, canceled, captureWatcher, watch } = setUp()
  watch()
  captureWatcher.giveUp('a')
  captureWatcher.giveUp('a')
  t.strictSame(canceled, ['uid'])
  await asked[0]?.respond('absent')
  t.strictSame(changes, [])
})
