import t from 'tap'
import { Progress } from '../../../../capture-runner/src/steps/consent.ts'

const report = (instanceId: string, lifecycle: string, findCmpAttempts = 1, mainFrame = true) => ({
  type: 'report',
  instanceId,
  mainFrame,
  state: { lifecycle, findCmpAttempts },
})

t.test('Progress gives a banner time to come up', async (t) => {
  const progress = new Progress()
  t.ok(progress.isWorthWaiting(1_000))
  progress.note(report('top', 'started', 2))
  t.notOk(progress.isWorthWaiting(2_000), 'it has been looked for twice')
})

t.test('Progress waits for the second look of a slow page, but not for ever', async (t) => {
  const progress = new Progress()
  progress.note(report('top', 'started', 1))
  t.ok(progress.isWorthWaiting(5_000))
  t.notOk(progress.isWorthWaiting(10_000))
})

t.test('Progress waits longer for a banner that is known, and for one that is answered', async (t) => {
  const progress = new Progress()
  progress.note(report('frame', 'cmpDetected', 1, false))
  t.ok(progress.isWorthWaiting(3_000))
  t.notOk(progress.isWorthWaiting(7_000))
  progress.note(report('frame', 'runningOptOut', 1, false))
  t.ok(progress.isWorthWaiting(7_000))
  t.notOk(progress.isWorthWaiting(20_000))
})

t.test('Progress ends with the answer, and with a failed one', async (t) => {
  for (const message of [{ type: 'autoconsentDone' }, { type: 'optOutResult', result: false }, { type: 'optInResult', result: false }]) {
    const progress = new Progress()
    progress.note(report('top', 'runningOptOut'))
    progress.note(message)
    t.notOk(progress.isWorthWaiting(0), message.type)
  }
})

t.test('Progress knows of an answer only when it was given', async (t) => {
  const progress = new Progress()
  progress.note({ type: 'optOutResult', result: false })
  t.notOk(progress.hasAnswered)
  progress.note({ type: 'optOutResult', result: true })
  t.ok(progress.hasAnswered)
})
