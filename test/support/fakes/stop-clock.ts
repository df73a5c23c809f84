import { type MockTimers, mock } from 'node:test'
import type { Test } from 'tap'

/** Replaces `setTimeout` by a fake until the test ends. `tick` advances its clock. */
export function stopClock(t: Test): MockTimers {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  return mock.timers
}
