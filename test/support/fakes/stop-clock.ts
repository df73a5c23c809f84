import { type MockTimers, mock } from 'node:test'
import type { Test } from 'tap'

/** Replaces timers by fakes until the test ends. `tick` advances their clock. */
export function stopClock(t: Test, api: 'setTimeout' | 'setInterval' = 'setTimeout'): MockTimers {
  mock.timers.enable({ apis: [api] })
  t.teardown(() => mock.timers.reset())
  return mock.timers
}
