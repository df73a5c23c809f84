import t from 'tap'
import type { ScreenshotStatus } from '../../../../crds/src/kinds/screenshot.ts'
import { CRASH_RECOVERY_SECONDS, CrashBudget, findCrashRecords, MAX_CRASHES } from '../../../../operator/src/scheduling/crash-budget.ts'
import { aScreenshot, at } from '../../../support/fakes/builders.ts'

const forgiven = (count: number): number => count * CRASH_RECOVERY_SECONDS * 1_000

/** An account whose captures crashed so many runners at once. */
function after(count: number): CrashBudget {
  const budget = new CrashBudget()
  for (let n = 0; n < count; n++) budget.note('red', `pod-${n}`, 0)
  return budget
}

t.test('CrashBudget does not limit an account without crashes', async (t) => {
  t.equal(new CrashBudget().limitOf('red', 0), undefined)
  t.equal(after(3).limitOf('blue', 0), undefined)
})

t.test('CrashBudget limits the concurrent captures of an account to its remaining budget', async (t) => {
  t.equal(after(3).limitOf('red', 0), MAX_CRASHES - 3)
  t.equal(after(MAX_CRASHES).limitOf('red', 0), 0)
  t.equal(after(MAX_CRASHES + 5).limitOf('red', 0), 0)
})

t.test('CrashBudget reports when the budget is empty, and counts a runner once', async (t) => {
  const budget = after(MAX_CRASHES - 1)
  t.equal(budget.note('red', 'pod-0', 0), 'known')
  t.equal(budget.note('red', 'last', 0), 'heldBack')
  t.equal(budget.note('red', 'one more', 0), 'heldBack')
})

t.test('CrashBudget refills one crash at a time', async (t) => {
  const budget = after(MAX_CRASHES)
  t.equal(budget.limitOf('red', forgiven(1) - 1), 0)
  t.equal(budget.limitOf('red', forgiven(1)), 1)
  t.equal(budget.limitOf('red', forgiven(MAX_CRASHES)), undefined)
})

t.test('CrashBudget limits the crashes of an account over time, whatever it does', async (t) => {
  const budget = new CrashBudget()
  let cost = 0
  for (let second = 0; second < 3_600; second++)
    for (let n = budget.limitOf('red', second * 1_000) ?? MAX_CRASHES; n > 0; n--) {
      budget.note('red', `pod-${cost++}`, second * 1_000)
    }
  t.ok(cost <= MAX_CRASHES + 3_600 / CRASH_RECOVERY_SECONDS, `${cost} runners in an hour`)
})

const now = at(1_000).getTime()
const shot = (name: string, status: ScreenshotStatus) =>
  aScreenshot({ name, metadata: { uid: name }, spec: { accountName: 'red' }, status: status as never })
const crashed = { error: { code: 'PAGE_CRASHED' as const, message: 'm' } }

t.test('findCrashRecords returns the crashes in Screenshots, oldest first, those of finished ones at their end', async (t) => {
  const found = findCrashRecords(
    [
      shot('waits', { phase: 'Pending', lostRunners: 1 }),
      shot('fine', { phase: 'Completed', completionTime: at(900).toISOString() }),
      shot('crashed', { phase: 'Failed', lostRunners: 1, completionTime: at(990).toISOString(), result: crashed }),
      shot('late', { phase: 'Completed', lostRunners: 1, completionTime: at(980).toISOString() }),
    ],
    now,
  )
  t.strictSame(found, [
    { account: 'red', id: 'late/0', at: at(980).getTime() },
    { account: 'red', id: 'crashed/0', at: at(990).getTime() },
    { account: 'red', id: 'crashed/1', at: at(990).getTime() },
    { account: 'red', id: 'waits/0', at: now },
  ])
})

t.test('findCrashRecords omits crashes that no longer count, and limits times of a clock that is ahead', async (t) => {
  const longAgo = new Date(now - MAX_CRASHES * CRASH_RECOVERY_SECONDS * 1_000).toISOString()
  t.strictSame(findCrashRecords([shot('old', { phase: 'Completed', lostRunners: 1, completionTime: longAgo })], now), [])
  const [ahead] = findCrashRecords([shot('ahead', { phase: 'Completed', lostRunners: 1, completionTime: at(2_000).toISOString() })], now)
  t.equal(ahead?.at, now)
})

t.test('CrashBudget limits an account under a new leader as under the previous one', async (t) => {
  const shots = Array.from({ length: MAX_CRASHES / 2 }, (_, n) =>
    shot(`crashed-${n}`, { phase: 'Failed', lostRunners: 1, completionTime: at(995 + n).toISOString(), result: crashed }),
  )
  const budget = new CrashBudget()
  for (const { account, id, at } of findCrashRecords(shots, now)) budget.note(account, id, at)
  t.equal(budget.limitOf('red', now), 0)
})
