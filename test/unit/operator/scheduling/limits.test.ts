import t from 'tap'
import { Store } from '../../../../crds/client/lister.ts'
import type { Account } from '../../../../crds/src/kinds/account.ts'
import type { ScreenshotStatus } from '../../../../crds/src/kinds/screenshot.ts'
import { DEFAULT_PLANS } from '../../../../crds/src/usage/plans.ts'
import { CRASH_RECOVERY_SECONDS, CrashBudget, findCrashRecords, MAX_CRASHES } from '../../../../operator/src/scheduling/crash-budget.ts'
import { accountLimits, canRecordIn, poolsOf } from '../../../../operator/src/scheduling/dispatcher.ts'
import { CaptureTimes, wantedPods } from '../../../../operator/src/scheduling/size.ts'
import { anAccount, aRunnerPool, aScreenshot, at } from '../../../support/fakes/builders.ts'

const accounts = new Store<Account>()
accounts.set(anAccount({ name: 'small', spec: { plan: 'free' } }))
accounts.set(anAccount({ name: 'large', spec: { plan: 'scale' } }))

t.test('accountLimits returns the limits of the plan, and the smallest weight for a missing account', async (t) => {
  const limitsOf = accountLimits(accounts, DEFAULT_PLANS, 'default')
  t.match(limitsOf('small'), { weight: 1, maxRunning: 5 })
  t.match(limitsOf('large'), { weight: 8, maxRunning: undefined })
  t.strictSame(limitsOf('nobody'), { weight: 1, hasOthers: true, maxRunning: undefined })
  t.equal(accountLimits(accounts, DEFAULT_PLANS, 'elsewhere')('large').weight, 1)
})

t.test('accountLimits lowers the limit of a plan but never raises it', async (t) => {
  const limitsOf = (limit: number) => accountLimits(accounts, DEFAULT_PLANS, 'default', () => limit)
  t.strictSame([limitsOf(2)('small').maxRunning, limitsOf(9)('small').maxRunning, limitsOf(9)('large').maxRunning], [2, 5, 9])
})

t.test('accountLimits does not apply maxRunning to the only account of a release', async (t) => {
  const only = new Store<Account>()
  only.set(anAccount({ name: 'small', spec: { plan: 'free' } }))
  t.strictSame(accountLimits(only, DEFAULT_PLANS, 'default')('small'), { weight: 1, hasOthers: false, maxRunning: undefined })
  t.equal(accountLimits(only, DEFAULT_PLANS, 'default', () => 2)('small').maxRunning, 2)
})

t.test('accountLimits allows one capture at a time, with the smallest weight, when the plan is not defined', async (t) => {
  const { free, basic } = DEFAULT_PLANS
  t.match(accountLimits(accounts, { free, basic }, 'default')('large'), { weight: 1, maxRunning: 1 })
})

t.test('canRecordIn is false only for a video in a pool that records none', async (t) => {
  const pools = [aRunnerPool(), aRunnerPool({ spec: { video: false } }), aRunnerPool({ spec: { video: true } })]
  const inEach = (format: 'mp4' | 'webm' | 'gif' | 'png' | undefined) =>
    pools.map((pool) => canRecordIn(aScreenshot({ spec: format === undefined ? {} : { options: { format } } }), pool))
  for (const format of ['mp4', 'webm', 'gif'] as const) t.strictSame(inEach(format), [false, false, true], format)
  for (const format of ['png', undefined] as const) t.strictSame(inEach(format), [true, true, true], String(format))
})

const plans = { ...DEFAULT_PLANS, scale: { ...DEFAULT_PLANS.scale, poolName: 'large' } }
const poolOf = poolsOf(accounts, plans, 'default')

const pools = [
  { name: 'else that of the plan of its account', spec: { accountName: 'large' }, pool: 'large' },
  { name: 'the default one when the plan names none', spec: { accountName: 'small' }, pool: 'default' },
  { name: 'the default one when the account does not exist', spec: { accountName: 'nobody' }, pool: 'default' },
] as const
for (const { name, spec, pool } of pools)
  t.test(`poolsOf returns for a Screenshot ${name}`, async (t) => t.equal(poolOf(aScreenshot({ spec })), pool))

const cases = [
  { name: 'keeps minIdle when nothing happens', spec: { minIdle: 2 }, load: { busy: 0, queued: 0 }, pods: 2 },
  { name: 'keeps idle pods on top of what is busy', spec: { minIdle: 2 }, load: { busy: 3, queued: 0 }, pods: 5 },
  { name: 'adds pods to drain the queue in time', spec: { minIdle: 0 }, load: { busy: 0, queued: 10 }, pods: 3 },
  { name: 'never exceeds maxPods', spec: { minIdle: 5, maxPods: 4 }, load: { busy: 4, queued: 1000 }, pods: 4 },
  { name: 'is zero when minIdle is 0 and the queue is empty', spec: { minIdle: 0 }, load: { busy: 0, queued: 0 }, pods: 0 },
  { name: 'is one when minIdle is 0 and one Screenshot is queued', spec: { minIdle: 0 }, load: { busy: 0, queued: 1 }, pods: 1 },
  { name: 'has one idle pod and at most ten pods by default', spec: {}, load: { busy: 0, queued: 1000 }, pods: 10 },
]
for (const { name, spec, load, pods } of cases)
  t.test(`wantedPods ${name}`, async (t) =>
    t.equal(wantedPods(aRunnerPool({ spec }).spec, { ...load, meanCaptureMilliseconds: 3_000 }), pods),
  )

t.test('CaptureTimes starts with an estimate, then follows the measurements', async (t) => {
  const times = new CaptureTimes()
  t.equal(times.of('default'), 3_000)
  times.note('default', 1_000)
  t.equal(times.of('default'), 1_000)
  times.note('default', 2_000)
  t.equal(times.of('default'), 1_100)
  t.equal(times.of('other'), 3_000)
})

const forgiven = (count: number): number => count * CRASH_RECOVERY_SECONDS * 1_000

/** An account whose captures crashed so many runners at once. */
function after(count: number): CrashBudget {
  const budget = new CrashBudget()
  for (let n = 0; n < count; n++) budget.note('red', `pod-${n}`, 0)
  return budget
}

t.test('CrashBudget limits the concurrent captures of an account to its remaining budget', async (t) => {
  t.equal(new CrashBudget().limitOf('red', 0), undefined)
  t.equal(after(3).limitOf('blue', 0), undefined)
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
