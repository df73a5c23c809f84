import t from 'tap'
import { Progress } from '../../../../../capture-runner/src/steps/preparing/consent.ts'

const report = (instanceId: string, lifecycle: string, findCmpAttempts = 1, mainFrame = true) => ({
  type: 'report',
  instanceId,
  mainFrame,
  state: { lifecycle, findCmpAttempts },
})

/** So many milliseconds of the page and of the runner. */
const after = (page: number, real = page) => ({ page, real })

t.test('Progress gives a banner time to come up', async (t) => {
  const progress = new Progress()
  t.ok(progress.isWorthWaiting(after(1_000)))
  progress.note(report('top', 'started', 2))
  t.ok(progress.isWorthWaiting(after(2_000)), 'the second look has only begun')
  t.notOk(progress.isWorthWaiting(after(2_500)), 'it has been looked for twice')
})

t.test('Progress waits for the second look of a slow page, but not for ever', async (t) => {
  const progress = new Progress()
  progress.note(report('top', 'started', 1))
  t.ok(progress.isWorthWaiting(after(5_000)))
  t.notOk(progress.isWorthWaiting(after(10_000)))
})

t.test('Progress waits longer for a banner that is known, and for one that is answered', async (t) => {
  const progress = new Progress()
  progress.note(report('frame', 'cmpDetected', 1, false))
  t.ok(progress.isWorthWaiting(after(3_000)))
  t.notOk(progress.isWorthWaiting(after(7_000)))
  progress.note(report('frame', 'runningOptOut', 1, false))
  t.ok(progress.isBusy)
  t.ok(progress.isWorthWaiting(after(7_000)))
  t.notOk(progress.isWorthWaiting(after(20_000)))
})

t.test('Progress ends with the answer, and with a failed one', async (t) => {
  for (const message of [{ type: 'autoconsentDone' }, { type: 'optOutResult', result: false }, { type: 'optInResult', result: false }]) {
    const progress = new Progress()
    progress.note(report('top', 'runningOptOut'))
    progress.note(message)
    t.notOk(progress.isWorthWaiting(after(0)), message.type)
  }
})

t.test('Progress knows of an answer only when it was given', async (t) => {
  const progress = new Progress()
  progress.note({ type: 'optOutResult', result: false })
  t.notOk(progress.hasAnswered)
  progress.note({ type: 'optOutResult', result: true })
  t.ok(progress.hasAnswered)
})

t.test('Progress gives a page whose clock runs ahead as much time as any other', async (t) => {
  const progress = new Progress()
  progress.note(report('top', 'started', 2))
  t.ok(progress.isWorthWaiting(after(1_000, 100)))
  t.notOk(progress.isWorthWaiting(after(2_500, 200)) && progress.isWorthWaiting(after(3_000, 200)))
})

t.test('Progress gives a frame of another process, whose clock does not run ahead, real time', async (t) => {
  const progress = new Progress()
  progress.note(report('top', 'started', 2))
  progress.isWorthWaiting(after(2_000, 100))
  t.ok(progress.isWorthWaiting(after(3_000, 200), true), 'it has not looked yet')
  t.notOk(progress.isWorthWaiting(after(3_000, 2_000), true), 'it has had its time')
  progress.note(report('frame', 'runningOptOut', 1, false), true)
  t.ok(progress.isWorthWaiting(after(20_000, 5_000)))
  t.notOk(progress.isWorthWaiting(after(20_000, 15_000)))
})

t.test('Progress takes an answer that leads to another document for one', async (t) => {
  const progress = new Progress()
  progress.note(report('top', 'runningOptOut'))
  progress.leave()
  t.ok(progress.hasAnswered)
  t.notOk(progress.isBusy, 'the program of the last document is no more')
})
