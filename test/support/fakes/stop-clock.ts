import { type MockTimers, mock } from 'node:test'
import type { Test } from 'tap'

/** Stops `setTimeout` until the test ends; `tick` lets milliseconds pass. */
export function stopClock(t: Test): MockTimers {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  return mock.timers
}
