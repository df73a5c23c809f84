import t from 'tap'
import { Progress } from '../../../../../capture-runner/src/steps/preparing/consent.ts'

const report = (instanceId: string, lifecycle: string, findCmpAttempts = 1, mainFrame = true) => ({
  type: 'report',
  instanceId,
  mainFrame,
  state: { lifecycle, findCmpAttempts },
})

/** Elapsed milliseconds of page time and real time. */
const after = (page: number, real = page) => ({ page, real })

t.test('Progress waits for a banner to appear', async (t) => {
  const progress = new Progress()
  t.ok(progress.isWorthWaiting(after(1_000)))
  progress.note(report('top', 'started', 2))
  t.ok(progress.isWorthWaiting(after(2_000)), 'the second check has only begun')
  t.notOk(progress.isWorthWaiting(after(2_500)), 'both checks are done')
})

t.test('Progress waits for the second check of a slow page for a limited time', async (t) => {
  const progress = new Progress()
  progress.note(report('top', 'started', 1))
  t.ok(progress.isWorthWaiting(after(5_000)))
  t.notOk(progress.isWorthWaiting(after(10_000)))
})

t.test('Progress waits longer for a detected banner, and for one being handled', async (t) => {
  const progress = new Progress()
  progress.note(report('frame', 'cmpDetected', 1, false))
  t.ok(progress.isWorthWaiting(after(3_000)))
  t.notOk(progress.isWorthWaiting(after(7_000)))
  progress.note(report('frame', 'runningOptOut', 1, false))
  t.ok(progress.isBusy)
  t.ok(progress.isWorthWaiting(after(7_000)))
  t.notOk(progress.isWorthWaiting(after(20_000)))
})

t.test('Progress ends when the banner was handled, or that failed', async (t) => {
  for (const message of [{ type: 'autoconsentDone' }, { type: 'optOutResult', result: false }, { type: 'optInResult', result: false }]) {
    const progress = new Progress()
    progress.note(report('top', 'runningOptOut'))
    progress.note(message)
    t.notOk(progress.isWorthWaiting(after(0)), message.type)
  }
})

t.test('Progress reports a choice only after it was submitted', async (t) => {
  const progress = new Progress()
  progress.note({ type: 'optOutResult', result: false })
  t.notOk(progress.hasAnswered)
  progress.note({ type: 'optOutResult', result: true })
  t.ok(progress.hasAnswered)
})

t.test('Progress counts page time for a page with a virtual clock', async (t) => {
  const progress = new Progress()
  progress.note(report('top', 'started', 2))
  t.ok(progress.isWorthWaiting(after(1_000, 100)))
  t.notOk(progress.isWorthWaiting(after(2_500, 200)) && progress.isWorthWaiting(after(3_000, 200)))
})

t.test('Progress counts real time for an out-of-process frame', async (t) => {
  const progress = new Progress()
  progress.note(report('top', 'started', 2))
  progress.isWorthWaiting(after(2_000, 100))
  t.ok(progress.isWorthWaiting(after(3_000, 200), true), 'the frame was not checked yet')
  t.notOk(progress.isWorthWaiting(after(3_000, 2_000), true), 'the time is over')
  progress.note(report('frame', 'runningOptOut', 1, false), true)
  t.ok(progress.isWorthWaiting(after(20_000, 5_000)))
  t.notOk(progress.isWorthWaiting(after(20_000, 15_000)))
})

t.test('Progress treats a navigation during handling as success', async (t) => {
  const progress = new Progress()
  progress.note(report('top', 'runningOptOut'))
  progress.leave()
  t.ok(progress.hasAnswered)
  t.notOk(progress.isBusy, 'the instance of the last document is gone')
})
