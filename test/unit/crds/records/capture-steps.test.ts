import t from 'tap'
import { STEPS } from '../../../../capture-runner/src/capture/run.ts'
import { CAPTURE_STEPS, toOrderedSteps } from '../../../../crds/src/records/capture-steps.ts'

t.test('the list of steps is that of the runner', async (t) => {
  t.strictSame(CAPTURE_STEPS, ['browser', ...new Set(STEPS.map(({ name }) => name)), 'compare', 'upload'])
})

t.test('steps have the order of the capture, although the API server sorts them by name', async (t) => {
  const stored = { browser: 1, navigate: 300, notePage: 2, screenshot: 90, settle: 40, upload: 12, unknownStep: 1 }
  t.strictSame(Object.entries(toOrderedSteps(stored)), [
    ['browser', 1],
    ['navigate', 300],
    ['settle', 40],
    ['note_page', 2],
    ['screenshot', 90],
    ['upload', 12],
    ['unknown_step', 1],
  ])
})
