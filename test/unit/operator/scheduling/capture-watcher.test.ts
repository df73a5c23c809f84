import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { CaptureResponse, RunnerResponse } from '../../../../operator/src/runner/runner-client.ts'
import { CaptureWatcher } from '../../../../operator/src/scheduling/dispatch-tracker.ts'

/** A watcher with runners that respond when the test says so, and a manual clock. `seen` has what it reports. */
function setUp() {
  const open: ((response: RunnerResponse) => void)[] = []
  const seen = { polls: [] as (string | undefined)[], taken: [] as string[], changes: [] as string[], canceled: [] as string[] }
  const world = { mayStart: true, now: 0 }
  const watcher = new CaptureWatcher({
    client: {
      getCapture: (_address, _uid, _attempt, wait) => {
        const { promise, resolve } = Promise.withResolvers<RunnerResponse>()
        seen.polls.push(wait?.until)
        open.push(resolve)
        return promise
      },
      cancel: async (_address, uid) => void seen.canceled.push(uid),
    },
    onChange: (key) => void seen.changes.push(key),
    onTaken: (key, podUid) => void seen.taken.push(`${key} ${podUid}`),
    mayStart: () => world.mayStart,
    now: () => new Date(world.now),
  })
  const watch = (attempt = 1) => watcher.watch({ key: 'a', uid: 'uid', attempt, podUid: `pod-${attempt}`, address: { uid: 'pod', ip: '' } })
  /** The runner responds to the first open poll. */
  const respond = async (response: CaptureResponse, afterMilliseconds = 30_000, isTaken = false) => {
    world.now += afterMilliseconds
    open.shift()?.({ response, isTaken })
    await setImmediate()
  }
  return { seen, world, watcher, watch, respond }
}

type Response = Parameters<ReturnType<typeof setUp>['respond']>
const cases: { name: string; responses: Response[]; mayStart?: boolean; polls: number; changes: string[] }[] = [
  { name: 'reports that a runner gave the attempt up', responses: [['absent']], polls: 1, changes: ['a'] },
  { name: 'reports a runner that no longer responds', responses: [['silent']], polls: 1, changes: ['a'] },
  { name: 'reports nothing after it lost leadership', responses: [['absent']], mayStart: false, polls: 1, changes: [] },
  { name: 'leaves a report to the watch', responses: [['reporting']], polls: 1, changes: [] },
  { name: 'polls again while the capture runs', responses: [['running'], ['absent']], polls: 2, changes: ['a'] },
  { name: 'stops polling a runner that does not support long polling', responses: [['running', 5]], polls: 1, changes: [] },
  { name: 'reports no picture after it lost leadership', responses: [['running', 100, true]], mayStart: false, polls: 1, changes: [] },
]
for (const { name, responses, mayStart = true, polls, changes } of cases) {
  t.test(`CaptureWatcher ${name}`, async (t) => {
    const { seen, world, watch, respond } = setUp()
    watch()
    watch()
    t.equal(seen.polls.length, 1, 'it polls an attempt once')
    world.mayStart = mayStart
    for (const response of responses) await respond(...response)
    t.equal(seen.polls.length, polls)
    t.strictSame([seen.changes, seen.taken], [changes, []])
  })
}

t.test('CaptureWatcher reports once that a picture is taken, and polls on until the end', async (t) => {
  const { seen, watch, respond } = setUp()
  watch()
  await respond('running', 100, true)
  t.strictSame(seen.taken, ['a pod-1'])
  await respond('running', 30_000, true)
  await respond('absent')
  t.strictSame(seen, { polls: ['taken', 'finished', 'finished'], taken: ['a pod-1'], changes: ['a'], canceled: [] })
})

t.test('CaptureWatcher reports nothing about an attempt that was replaced', async (t) => {
  const { seen, watch, respond } = setUp()
  watch(1)
  watch(2)
  await respond('absent')
  t.strictSame(seen.changes, [])
  await respond('absent')
  t.strictSame(seen.changes, ['a'])
})

t.test('CaptureWatcher cancels the capture of a runner that is lost to the cluster, and ignores it afterwards', async (t) => {
  const { seen, watcher, watch, respond } = setUp()
  watch()
  watcher.giveUp('a')
  watcher.giveUp('a')
  t.strictSame(seen.canceled, ['uid'])
  await respond('absent')
  t.strictSame(seen.changes, [])
})
