import t from 'tap'
import type { RunnerPoolSpec } from '../../../../crds/src/kinds/runner-pool.ts'
import { UNKNOWN_GUARD } from '../../../../operator/src/guard/decision.ts'
import { decide } from '../../../../operator/src/pool/decide.ts'
import { group } from '../../../../operator/src/pool/groups.ts'
import type { PoolAction, PoolMemory, PoolObserved } from '../../../../operator/src/pool/state.ts'
import type { Runner } from '../../../../operator/src/runner/runners.ts'
import { aRunnerPool, at, NOON } from '../../../support/fakes/builders.ts'
import { aPod, aRunner, endedStatus, freshMemory } from '../../../support/fakes/runners.ts'

const observed = ({
  spec = {},
  memory = {},
  ...given
}: Partial<Omit<PoolObserved, 'memory'>> & { spec?: Partial<RunnerPoolSpec>; memory?: Partial<PoolMemory> } = {}): PoolObserved => ({
  pool: aRunnerPool({ spec: { minIdle: 1, maxPods: 4, ...spec } }),
  runners: [],
  unseen: 0,
  nextOrdinal: 7,
  templateHash: 'current',
  queued: 0,
  heldBack: 0,
  accountsWaiting: [],
  meanCaptureMilliseconds: 3_000,
  guard: UNKNOWN_GUARD,
  memory: { ...freshMemory, ...memory },
  ...given,
})
const spell = (action: PoolAction): string => {
  if (action.do === 'create') return `create ${action.ordinals.join(',')}`
  if (action.do === 'delete') return `delete ${action.runner.name} ${action.reason}`
  if (action.do === 'requeue') return `requeue ${action.afterMilliseconds}`
  if (action.do === 'noteSurplus')
    return action.since === undefined ? 'no surplus' : `surplus since ${(action.since - NOON.getTime()) / 1_000}`
  if (action.do === 'noteLack') return action.since === undefined ? 'no lack' : `lack since ${(action.since - NOON.getTime()) / 1_000}`
  return `${action.do} ${action.text}`
}

const named = (name: string, given: Partial<Runner> = {}) => aRunner({ name, ...given })
const busy = (name: string, given: Partial<Runner> = {}) => named(name, { workingOn: 'default/scr', ...given })
const unfenced = { chromiumSandbox: false, jail: false, detail: 'no user namespaces' }
const unready = (name: string, status = { phase: 'Pending' }) =>
  named(name, { state: 'waiting', sandbox: undefined, pod: aPod({ name, status }) })
const notReady = 'a runner was not ready after 300 s. Run kubectl logs and kubectl describe for one of the pods'
const unschedulable = { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'too small' }] }

const cases: { name: string; observed: PoolObserved; second?: number; does: string[] }[] = [
  { name: 'does nothing for a pool that is gone', observed: observed({ pool: undefined }), does: [] },
  {
    name: 'does nothing for a pool that is being deleted',
    observed: observed({ pool: aRunnerPool({ metadata: { deletionTimestamp: NOON.toISOString() } }) }),
    does: [],
  },
  { name: 'fills an empty pool', observed: observed({ spec: { minIdle: 3 } }), does: ['create 7,8,9'] },
  { name: 'is content with one idle pod', observed: observed({ runners: [named('a')] }), does: [] },
  { name: 'counts a pod that starts', observed: observed({ runners: [unready('a')] }), does: [] },
  { name: 'counts a pod that it created and does not see yet', observed: observed({ unseen: 1 }), does: [] },
  {
    name: 'does not make an idle pod for a pod that will soon be idle again',
    observed: observed({ runners: [busy('a')] }),
    second: 1,
    does: ['lack since 1', 'requeue 6000'],
  },
  {
    name: 'bears it for a second at least',
    observed: observed({ runners: [busy('a')], meanCaptureMilliseconds: 10 }),
    does: ['lack since 0', 'requeue 1000'],
  },
  {
    name: 'keeps an idle pod beside a pod that stays busy',
    observed: observed({ runners: [busy('a')], memory: { lackSince: NOON.getTime() } }),
    second: 6,
    does: ['no lack', 'create 7'],
  },
  {
    name: 'makes idle pods at once that no busy pod will be',
    observed: observed({ spec: { minIdle: 2 }, runners: [busy('a')] }),
    does: ['create 7,8'],
  },
  {
    name: 'forgets a lack that is none any more',
    observed: observed({ runners: [named('a')], memory: { lackSince: 1 } }),
    does: ['no lack'],
  },
  { name: 'adds pods for the queue', observed: observed({ runners: [busy('a')], queued: 6 }), does: ['create 7,8,9'] },
  {
    name: 'never has more than maxPods',
    observed: observed({ runners: [busy('a'), busy('b'), busy('c')], queued: 900 }),
    does: ['create 7'],
  },
  {
    name: 'counts a pod that goes against maxPods',
    observed: observed({ runners: [busy('a'), busy('b'), busy('c'), named('d', { state: 'terminating' })], queued: 9 }),
    does: [],
  },
  {
    name: 'does not count a pod that should have gone long ago',
    observed: observed({
      queued: 1,
      runners: [
        busy('a'),
        busy('b'),
        busy('c'),
        named('d', { state: 'terminating', pod: aPod({ deletionTimestamp: NOON.toISOString() }) }),
      ],
    }),
    second: 31,
    does: ['create 7'],
  },
  {
    name: 'tries a template that nobody knows yet with four pods',
    observed: observed({ spec: { minIdle: 40, maxPods: 100 } }),
    does: ['create 7,8,9,10'],
  },
  {
    name: 'waits for these before it makes more',
    observed: observed({ spec: { minIdle: 40, maxPods: 100 }, runners: ['a', 'b', 'c'].map((name) => unready(name)), unseen: 1 }),
    does: [],
  },
  {
    name: 'doubles a pool that has shown that its template works',
    observed: observed({ spec: { minIdle: 40, maxPods: 100 }, runners: ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => named(name)) }),
    does: ['create 7,8,9,10,11,12'],
  },
  {
    name: 'makes one pod at a time after one has failed to start',
    observed: observed({ spec: { minIdle: 3 }, memory: { failedStarts: 1 } }),
    does: ['create 7'],
  },
  {
    name: 'makes no pods for what waits for its own account’s captures to end',
    observed: observed({ runners: [named('a')], queued: 900, heldBack: 900 }),
    does: [],
  },
  {
    name: 'looks again when a runner has rested and something waits for it',
    observed: observed({ spec: { maxPods: 1 }, runners: [named('a', { backoffUntil: at(2).getTime() })], queued: 1 }),
    does: ['requeue 2000'],
  },
  { name: 'scales to nothing', observed: observed({ spec: { minIdle: 0 } }), does: [] },

  {
    name: 'removes a pod that has ended and makes another',
    observed: observed({ runners: [named('a', { state: 'ended' })] }),
    does: ['delete a ended', 'create 7'],
  },
  {
    name: 'remembers a pod that ended before it could capture',
    observed: observed({ runners: [named('a', { state: 'ended', sandbox: undefined, pod: aPod({ name: 'a', status: endedStatus(1) }) })] }),
    does: ['noteFailedStart a runner exited before it was ready: exit code 1', 'delete a ended', 'create 7'],
  },
  {
    name: 'waits longer after each pod that failed to start',
    observed: observed({ memory: { failedStarts: 4, lastFailureAt: at(10).getTime() } }),
    second: 11,
    does: ['requeue 7000'],
  },
  {
    name: 'tries again when that time is over',
    observed: observed({ memory: { failedStarts: 4, lastFailureAt: at(10).getTime() } }),
    second: 18,
    does: ['create 7'],
  },
  {
    name: 'never waits longer than a minute',
    observed: observed({ memory: { failedStarts: 40, lastFailureAt: at(10).getTime() } }),
    second: 70,
    does: ['create 7'],
  },

  {
    name: 'replaces a pod that has made its captures',
    observed: observed({ spec: { capturesPerPod: 5 }, runners: [named('a', { captures: 5 })] }),
    does: ['delete a spent', 'create 7'],
  },
  {
    name: 'has the successor of a pod on its last capture ready before it ends',
    observed: observed({ spec: { capturesPerPod: 1 }, runners: [busy('a', { captures: 1 })] }),
    does: ['create 7'],
  },
  {
    name: 'has the successor of a pod that is near its last capture made while it still works',
    observed: observed({ spec: { capturesPerPod: 10 }, runners: [named('a', { captures: 9 })] }),
    does: ['create 7'],
  },
  {
    name: 'removes a pod that is near its last capture when its successor is up',
    observed: observed({ spec: { capturesPerPod: 10 }, runners: [named('a', { captures: 9 }), named('b')] }),
    does: ['delete a stale'],
  },
  {
    name: 'does not wait for a pod to be an idle pod again that is near its last capture',
    observed: observed({ spec: { capturesPerPod: 10 }, runners: [busy('a', { captures: 9 })] }),
    does: ['create 7'],
  },
  {
    name: 'replaces a pod that lost three orders in a row',
    observed: observed({ runners: [named('a', { losses: 3 })] }),
    does: ['delete a spent', 'create 7'],
  },
  {
    name: 'makes successors first when the template has changed',
    observed: observed({ runners: [named('a', { templateHash: 'old' })] }),
    does: ['create 7'],
  },
  {
    name: 'removes a pod of the old template when its successor is up',
    observed: observed({ runners: [named('a', { templateHash: 'old' }), named('b')] }),
    does: ['delete a stale'],
  },
  {
    name: 'removes a pod of the old template first when there is no room for its successor',
    observed: observed({ spec: { maxPods: 1 }, runners: [named('a', { templateHash: 'old' })] }),
    does: ['delete a stale'],
  },
  {
    name: 'makes room for a new template in a full pool a part at a time',
    observed: observed({
      spec: { minIdle: 8, maxPods: 8 },
      runners: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => named(name, { templateHash: 'old' })),
    }),
    does: ['delete a stale', 'delete b stale'],
  },
  {
    name: 'makes no more room before what has taken it works',
    observed: observed({
      spec: { minIdle: 8, maxPods: 8 },
      runners: [...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => named(name, { templateHash: 'old' })), unready('g'), unready('h')],
    }),
    does: [],
  },
  {
    name: 'makes no more room where there is some',
    observed: observed({
      spec: { minIdle: 4, maxPods: 4 },
      runners: ['a', 'b', 'c'].map((name) => named(name, { templateHash: 'old' })),
    }),
    does: ['create 7'],
  },
  {
    name: 'makes no room for a template that has failed to start',
    observed: observed({
      spec: { maxPods: 1 },
      runners: [named('a', { templateHash: 'old' })],
      memory: { failedStarts: 1 },
    }),
    does: [],
  },
  {
    name: 'removes a pod of the old template at once that has never worked',
    observed: observed({ runners: [{ ...unready('a'), templateHash: 'old' }] }),
    does: ['delete a stale', 'create 7'],
  },
  {
    name: 'leaves a busy pod of the old template alone',
    observed: observed({ runners: [busy('a', { templateHash: 'old' }), named('b')] }),
    does: [],
  },
  {
    name: 'replaces a pod that never became ready',
    observed: observed({ runners: [unready('a')] }),
    second: 301,
    does: [`noteFailedStart ${notReady}`, 'delete a stuck', 'create 7'],
  },
  {
    name: 'gives a pod as long to become ready as the pool says',
    observed: observed({ spec: { readinessGraceSeconds: 600 }, runners: [unready('a')] }),
    second: 301,
    does: [],
  },
  {
    name: 'does not replace a pod that no node takes',
    observed: observed({ runners: [unready('a', { phase: 'Pending', ...unschedulable })] }),
    second: 301,
    does: [],
  },
  {
    name: 'replaces a pod that was ready and is not for a minute',
    observed: observed({ runners: [named('a', { state: 'waiting' })] }),
    second: 61,
    does: ['delete a stuck', 'create 7'],
  },
  {
    name: 'replaces a ready pod that never proved who it is',
    observed: observed({ runners: [named('a', { sandbox: undefined })] }),
    second: 301,
    does: [`noteFailedStart ${notReady}`, 'delete a stuck', 'create 7'],
  },

  {
    name: 'keeps a surplus for a while',
    observed: observed({ runners: [named('a'), named('b')] }),
    second: 5,
    does: ['surplus since 5', 'requeue 120000'],
  },
  {
    name: 'removes the pods that have been idle longest when the surplus stays',
    observed: observed({
      runners: [
        named('a', { idleSince: at(3).getTime() }),
        named('b', { idleSince: at(1).getTime() }),
        named('c', { idleSince: at(2).getTime() }),
      ],
      memory: { surplusSince: NOON.getTime() },
    }),
    second: 120,
    does: ['delete b surplus', 'delete c surplus'],
  },
  {
    name: 'removes pods that no node takes before those that work',
    observed: observed({
      runners: [named('a'), unready('b'), unready('c', { phase: 'Pending', ...unschedulable })],
      memory: { surplusSince: NOON.getTime() },
    }),
    second: 120,
    does: ['delete c surplus', 'delete b surplus'],
  },
  {
    name: 'forgets a surplus that is none any more',
    observed: observed({ runners: [named('a')], memory: { surplusSince: 1 } }),
    does: ['no surplus'],
  },
  {
    name: 'does not remove busy pods whatever the surplus',
    observed: observed({ spec: { maxPods: 1 }, runners: [busy('a'), busy('b')], memory: { surplusSince: 1 } }),
    second: 999,
    does: ['no surplus'],
  },

  {
    name: 'keeps a fresh idle pod beside a pod that is one account’s for its life',
    observed: observed({ runners: [named('a', { sandbox: unfenced, accountName: 'acc' })] }),
    does: ['create 7'],
  },
  {
    name: 'keeps such a pod while its account has work',
    observed: observed({
      runners: [named('a', { sandbox: unfenced, accountName: 'acc' }), named('b', { sandbox: unfenced })],
      accountsWaiting: ['acc'],
    }),
    second: 9_999,
    does: [],
  },
  {
    name: 'removes such a pod when its account has been quiet',
    observed: observed({ runners: [named('a', { sandbox: unfenced, accountName: 'acc' }), named('b', { sandbox: unfenced })] }),
    second: 121,
    does: ['delete a dedicated'],
  },
  {
    name: 'removes such a pod at once when another account needs its place',
    observed: observed({
      spec: { maxPods: 1 },
      runners: [named('a', { sandbox: unfenced, accountName: 'acc' })],
      accountsWaiting: ['other'],
      queued: 1,
    }),
    does: ['delete a dedicated'],
  },
  {
    name: 'does not count an unfenced pod where the sandbox is required',
    observed: observed({ spec: { sandbox: { mode: 'required' }, minIdle: 1 }, runners: [named('a', { sandbox: unfenced })] }),
    does: [],
  },
]
for (const { name, observed, second = 0, does } of cases) {
  t.test(`decide ${name}`, async (t) => {
    const actions = decide(observed, at(second)).map(spell)
    t.strictSame(
      actions.filter((action) => action !== 'requeue 30000'),
      does,
    )
  })
}

t.test('decide looks again after half a minute though nothing happens', async (t) => {
  t.ok(decide(observed({ runners: [named('a')] }), NOON).some((action) => spell(action) === 'requeue 30000'))
})

t.test('group puts each pod into one group', async (t) => {
  const runners = [
    busy('busy', { captures: 1_000 }),
    named('idle'),
    named('dedicated', { sandbox: unfenced, accountName: 'acc' }),
    unready('starting'),
    named('stale', { templateHash: 'old' }),
    named('spent', { losses: 3 }),
    named('terminating', { state: 'terminating' }),
    named('ended', { state: 'ended' }),
  ]
  const groups = group(observed({ runners }), NOON.getTime())
  for (const [name, members] of Object.entries(groups))
    t.strictSame(
      members.map((runner: Runner) => runner.name),
      name === 'stuck' ? [] : [name],
    )
})
