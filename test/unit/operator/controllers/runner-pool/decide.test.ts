import t from 'tap'
import type { RunnerPoolSpec } from '../../../../../crds/src/kinds/runner-pool.ts'
import { UNKNOWN_GUARD } from '../../../../../operator/src/controllers/guard/decision.ts'
import { decide } from '../../../../../operator/src/controllers/runner-pool/decide.ts'
import type { PoolAction, PoolMemory, PoolObserved } from '../../../../../operator/src/controllers/runner-pool/state.ts'
import type { Runner } from '../../../../../operator/src/runner/runners.ts'
import { group } from '../../../../../operator/src/scheduling/groups.ts'
import { aRunnerPool, at, NOON } from '../../../../support/fakes/builders.ts'
import { aPod, aRunner, endedStatus, freshMemory } from '../../../../support/fakes/runners.ts'

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
  heldBack: new Map(),
  accountsWaiting: [],
  meanCaptureMilliseconds: 3_000,
  guard: UNKNOWN_GUARD,
  memory: { ...freshMemory, ...memory },
  ...given,
})
const summarize = (action: PoolAction): string => {
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
const withoutSandbox = { chromiumSandbox: false, jail: false, detail: 'no user namespaces' }
const unready = (name: string, status = { phase: 'Pending' }) =>
  named(name, { state: 'waiting', sandbox: undefined, pod: aPod({ name, status }) })
const notReady = 'a runner was not ready after 300 s. Run kubectl logs and kubectl describe for one of the pods'
const unschedulable = { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'too small' }] }

const cases: { name: string; observed: PoolObserved; second?: number; does: string[] }[] = [
  { name: 'does nothing for a deleted pool', observed: observed({ pool: undefined }), does: [] },
  {
    name: 'does nothing for a pool that is being deleted',
    observed: observed({ pool: aRunnerPool({ metadata: { deletionTimestamp: NOON.toISOString() } }) }),
    does: [],
  },
  { name: 'fills an empty pool', observed: observed({ spec: { minIdle: 3 } }), does: ['create 7,8,9'] },
  { name: 'does nothing with one idle pod', observed: observed({ runners: [named('a')] }), does: [] },
  { name: 'counts a starting pod', observed: observed({ runners: [unready('a')] }), does: [] },
  { name: 'counts a created pod that is not in the cache yet', observed: observed({ unseen: 1 }), does: [] },
  {
    name: 'does not create an idle pod when a busy pod will soon be idle',
    observed: observed({ runners: [busy('a')] }),
    second: 1,
    does: ['lack since 1', 'requeue 6000'],
  },
  {
    name: 'waits at least a second',
    observed: observed({ runners: [busy('a')], meanCaptureMilliseconds: 10 }),
    does: ['lack since 0', 'requeue 1000'],
  },
  {
    name: 'keeps an idle pod besides a pod that stays busy',
    observed: observed({ runners: [busy('a')], memory: { lackSince: NOON.getTime() } }),
    second: 6,
    does: ['no lack', 'create 7'],
  },
  {
    name: 'creates idle pods at once that no busy pod will replace',
    observed: observed({ spec: { minIdle: 2 }, runners: [busy('a')] }),
    does: ['create 7,8'],
  },
  {
    name: 'resets a lack that has ended',
    observed: observed({ runners: [named('a')], memory: { lackSince: 1 } }),
    does: ['no lack'],
  },
  { name: 'adds pods for the queue', observed: observed({ runners: [busy('a')], queued: 6 }), does: ['create 7,8,9'] },
  {
    name: 'never exceeds maxPods',
    observed: observed({ runners: [busy('a'), busy('b'), busy('c')], queued: 900 }),
    does: ['create 7'],
  },
  {
    name: 'counts a terminating pod against maxPods',
    observed: observed({ runners: [busy('a'), busy('b'), busy('c'), named('d', { state: 'terminating' })], queued: 9 }),
    does: [],
  },
  {
    name: 'does not count a terminating pod that is overdue',
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
    name: 'tries an unproven template with four pods',
    observed: observed({ spec: { minIdle: 40, maxPods: 100 } }),
    does: ['create 7,8,9,10'],
  },
  {
    name: 'waits for these before it creates more',
    observed: observed({ spec: { minIdle: 40, maxPods: 100 }, runners: ['a', 'b', 'c'].map((name) => unready(name)), unseen: 1 }),
    does: [],
  },
  {
    name: 'doubles a pool with a proven template',
    observed: observed({ spec: { minIdle: 40, maxPods: 100 }, runners: ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => named(name)) }),
    does: ['create 7,8,9,10,11,12'],
  },
  {
    name: 'creates one pod at a time after a failed start',
    observed: observed({ spec: { minIdle: 3 }, memory: { failedStarts: 1 } }),
    does: ['create 7'],
  },
  {
    name: 'creates no pods for Screenshots whose account is at its limit',
    observed: observed({ runners: [named('a')], queued: 900, heldBack: new Map([['acme', 900]]) }),
    does: [],
  },
  {
    name: 'requeues for the end of a runner’s backoff when Screenshots wait',
    observed: observed({ spec: { maxPods: 1 }, runners: [named('a', { backoffUntil: at(2).getTime() })], queued: 1 }),
    does: ['requeue 2000'],
  },
  { name: 'scales to zero', observed: observed({ spec: { minIdle: 0 } }), does: [] },

  {
    name: 'deletes an ended pod and creates another',
    observed: observed({ runners: [named('a', { state: 'ended' })] }),
    does: ['delete a ended', 'create 7'],
  },
  {
    name: 'counts a pod that ended before it could capture as a failed start',
    observed: observed({ runners: [named('a', { state: 'ended', sandbox: undefined, pod: aPod({ name: 'a', status: endedStatus(1) }) })] }),
    does: ['noteFailedStart a runner exited before it was ready: exit code 1', 'delete a ended', 'create 7'],
  },
  {
    name: 'waits longer after each failed start',
    observed: observed({ memory: { failedStarts: 4, lastFailureAt: at(10).getTime() } }),
    second: 11,
    does: ['requeue 7000'],
  },
  {
    name: 'retries when the backoff is over',
    observed: observed({ memory: { failedStarts: 4, lastFailureAt: at(10).getTime() } }),
    second: 18,
    does: ['create 7'],
  },
  {
    name: 'has a maximum backoff of a minute',
    observed: observed({ memory: { failedStarts: 40, lastFailureAt: at(10).getTime() } }),
    second: 70,
    does: ['create 7'],
  },

  {
    name: 'replaces a pod that has reached its capture limit',
    observed: observed({ spec: { capturesPerPod: 5 }, runners: [named('a', { captures: 5 })] }),
    does: ['delete a spent', 'create 7'],
  },
  {
    name: 'starts the successor of a pod before its last capture ends',
    observed: observed({ spec: { capturesPerPod: 1 }, runners: [busy('a', { captures: 1 })] }),
    does: ['create 7'],
  },
  {
    name: 'starts the successor of a pod near its capture limit while it still works',
    observed: observed({ spec: { capturesPerPod: 10 }, runners: [named('a', { captures: 9 })] }),
    does: ['create 7'],
  },
  {
    name: 'deletes a pod near its capture limit when its successor is ready',
    observed: observed({ spec: { capturesPerPod: 10 }, runners: [named('a', { captures: 9 }), named('b')] }),
    does: ['delete a stale'],
  },
  {
    name: 'does not count on a pod near its capture limit to become idle',
    observed: observed({ spec: { capturesPerPod: 10 }, runners: [busy('a', { captures: 9 })] }),
    does: ['create 7'],
  },
  {
    name: 'replaces a pod that lost three orders in a row',
    observed: observed({ runners: [named('a', { losses: 3 })] }),
    does: ['delete a spent', 'create 7'],
  },
  {
    name: 'creates successors first when the template has changed',
    observed: observed({ runners: [named('a', { templateHash: 'old' })] }),
    does: ['create 7'],
  },
  {
    name: 'deletes a pod of the old template when its successor is ready',
    observed: observed({ runners: [named('a', { templateHash: 'old' }), named('b')] }),
    does: ['delete a stale'],
  },
  {
    name: 'deletes a pod of the old template first when there is no room for its successor',
    observed: observed({ spec: { maxPods: 1 }, runners: [named('a', { templateHash: 'old' })] }),
    does: ['delete a stale'],
  },
  {
    name: 'replaces a full pool in parts when the template has changed',
    observed: observed({
      spec: { minIdle: 8, maxPods: 8 },
      runners: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => named(name, { templateHash: 'old' })),
    }),
    does: ['delete a stale', 'delete b stale'],
  },
  {
    name: 'replaces no more pods before their successors are ready',
    observed: observed({
      spec: { minIdle: 8, maxPods: 8 },
      runners: [...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => named(name, { templateHash: 'old' })), unready('g'), unready('h')],
    }),
    does: [],
  },
  {
    name: 'replaces no pods while there is room for successors',
    observed: observed({
      spec: { minIdle: 4, maxPods: 4 },
      runners: ['a', 'b', 'c'].map((name) => named(name, { templateHash: 'old' })),
    }),
    does: ['create 7'],
  },
  {
    name: 'replaces no pods for a template with a failed start',
    observed: observed({
      spec: { maxPods: 1 },
      runners: [named('a', { templateHash: 'old' })],
      memory: { failedStarts: 1 },
    }),
    does: [],
  },
  {
    name: 'deletes a pod of the old template at once that was never ready',
    observed: observed({ runners: [{ ...unready('a'), templateHash: 'old' }] }),
    does: ['delete a stale', 'create 7'],
  },
  {
    name: 'keeps a busy pod of the old template',
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
    name: 'uses the readiness grace period of the pool',
    observed: observed({ spec: { readinessGraceSeconds: 600 }, runners: [unready('a')] }),
    second: 301,
    does: [],
  },
  {
    name: 'does not replace an unschedulable pod',
    observed: observed({ runners: [unready('a', { phase: 'Pending', ...unschedulable })] }),
    second: 301,
    does: [],
  },
  {
    name: 'replaces a pod that has not been ready for a minute',
    observed: observed({ runners: [named('a', { state: 'waiting' })] }),
    second: 61,
    does: ['delete a stuck', 'create 7'],
  },
  {
    name: 'replaces a ready pod that never proved its identity',
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
    name: 'deletes the pods that have been idle longest when the surplus lasts',
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
    name: 'deletes unschedulable pods before working ones',
    observed: observed({
      runners: [named('a'), unready('b'), unready('c', { phase: 'Pending', ...unschedulable })],
      memory: { surplusSince: NOON.getTime() },
    }),
    second: 120,
    does: ['delete c surplus', 'delete b surplus'],
  },
  {
    name: 'resets a surplus that has ended',
    observed: observed({ runners: [named('a')], memory: { surplusSince: 1 } }),
    does: ['no surplus'],
  },
  {
    name: 'never deletes busy pods because of a surplus',
    observed: observed({ spec: { maxPods: 1 }, runners: [busy('a'), busy('b')], memory: { surplusSince: 1 } }),
    second: 999,
    does: ['no surplus'],
  },

  {
    name: 'keeps a fresh idle pod besides a pod that is dedicated to an account',
    observed: observed({ runners: [named('a', { sandbox: withoutSandbox, accountName: 'acc' })] }),
    does: ['create 7'],
  },
  {
    name: 'keeps a dedicated pod while its account has queued Screenshots',
    observed: observed({
      runners: [named('a', { sandbox: withoutSandbox, accountName: 'acc' }), named('b', { sandbox: withoutSandbox })],
      accountsWaiting: ['acc'],
    }),
    second: 9_999,
    does: [],
  },
  {
    name: 'deletes a dedicated pod when its account has been idle',
    observed: observed({ runners: [named('a', { sandbox: withoutSandbox, accountName: 'acc' }), named('b', { sandbox: withoutSandbox })] }),
    second: 121,
    does: ['delete a dedicated'],
  },
  {
    name: 'deletes a dedicated pod at once when another account needs its place',
    observed: observed({
      spec: { maxPods: 1 },
      runners: [named('a', { sandbox: withoutSandbox, accountName: 'acc' })],
      accountsWaiting: ['other'],
      queued: 1,
    }),
    does: ['delete a dedicated'],
  },
  {
    name: 'does not count a pod without a sandbox when one is required',
    observed: observed({ spec: { sandbox: { mode: 'required' }, minIdle: 1 }, runners: [named('a', { sandbox: withoutSandbox })] }),
    does: [],
  },
]
for (const { name, observed, second = 0, does } of cases) {
  t.test(`decide ${name}`, async (t) => {
    const actions = decide(observed, at(second)).map(summarize)
    t.strictSame(
      actions.filter((action) => action !== 'requeue 30000'),
      does,
    )
  })
}

t.test('decide requeues after half a minute in any case', async (t) => {
  t.ok(decide(observed({ runners: [named('a')] }), NOON).some((action) => summarize(action) === 'requeue 30000'))
})

t.test('group puts each pod into one group', async (t) => {
  const runners = [
    busy('busy', { captures: 1_000 }),
    named('idle'),
    named('dedicated', { sandbox: withoutSandbox, accountName: 'acc' }),
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
