import t from 'tap'
import { nextAttemptTime, recordedAttemptTime } from '../../../../../../operator/src/controllers/delivery/flow-control/retry.ts'
import { at, NOON } from '../../../../../support/fakes/builders.ts'

const schedule = { delaysMilliseconds: [5_000, 300_000], timeoutMilliseconds: 5_000 }
const seconds = (time: Date) => (time.getTime() - NOON.getTime()) / 1000

t.test('nextAttemptTime lengthens each delay by up to a fifth, and never shortens it', async (t) => {
  const cases: [attempt: number, jitter: number, second: number][] = [
    [1, 0, 5],
    [1, 0.5, 5.5],
    [1, 0.999999, 6],
    [2, 0, 300],
    [2, 0.5, 330],
    [2, 0.999999, 360],
  ]
  for (const [attempt, jitter, second] of cases)
    t.equal(Math.round(10 * seconds(nextAttemptTime(schedule, { attempt, jitter, at: NOON }))) / 10, second)
})

t.test('nextAttemptTime respects Retry-After up to twice the delay, and it never shortens a delay', async (t) => {
  const cases: [retryAfter: number, second: number][] = [
    [0, 5],
    [1_000, 5],
    [7_000, 7],
    [10_000, 10],
    [86_400_000, 10],
  ]
  for (const [retryAfterMilliseconds, second] of cases) {
    t.equal(seconds(nextAttemptTime(schedule, { attempt: 1, jitter: 0, at: NOON, retryAfterMilliseconds })), second)
  }
})

t.test('recordedAttemptTime returns when the next step is due if this attempt is interrupted', async (t) => {
  t.equal(seconds(recordedAttemptTime(schedule, 2, at(0))), 300)
  t.equal(seconds(recordedAttemptTime(schedule, 3, at(0))), 10)
})
