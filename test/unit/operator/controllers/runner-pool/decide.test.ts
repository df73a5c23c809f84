import t from 'tap'
import type { Pod } from '../../../../../crds/client/kinds.ts'
import type { RunnerPoolSpec } from '../../../../../crds/src/kinds/runner-pool.ts'
import { decide, type PoolAction, type PoolMemory, type PoolObserved } from '../../../../../operator/src/controllers/runner-pool/decide.ts'
import type { Runner } from '../../../../../operator/src/runner/runners.ts'
import { aRunnerPool, at, NOON } from '../../../../support/fakes/builders.ts'
import { aPod, aRunner, endedStatus, freshMemory, quiet, unschedulableStatus } from '../../../../support/fakes/runners.ts'

type Given = Partial<Omit<PoolObserved, 'memory'>> & { spec?: Partial<RunnerPoolSpec>; memory?: Partial<PoolMemory> }

const observed = ({ spec = {}, memory = {}, ...given }: Given): PoolObserved => ({
  ...{ ...quiet, pool: aRunnerPool({ spec: { minIdle: 1, maxPods: 4, ...spec } }), memory: { ...freshMemory, ...memory } },
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
const old = (name: string) => named(name, { templateHash: 'old' })
const unfenced = (name: string) => named(name, { sandbox: withoutSandbox })
/** A runner without a sandbox that has captured for an account. */
const dedicated = (name: string) => named(name, { sandbox: withoutSandbox, accountName: 'acc' })
const each = (names: string, build: (name: string) => Runner): Runner[] => names.split(' ').map((name) => build(name))
const unready = (name: string, status: Pod['status'] = { phase: 'Pending' }) =>
  named(name, { state: 'waiting', sandbox: undefined, pod: aPod({ name, status }) })
const notReady = 'a runner was not ready after 300 s. Run kubectl logs and kubectl describe for one of the pods'

const cases: [name: string, given: Given, does: string[], second?: number][] = [
  ['does nothing for a deleted pool', { pool: undefined }, []],
  ['does nothing for a pool that is being deleted', { pool: aRunnerPool({ metadata: { deletionTimestamp: NOON.toISOString() } }) }, []],
  ['counts a created pod that is not in the cache yet', { unseen: 1 }, []],
  ['does not create an idle pod when a busy pod will soon be idle', { runners: [busy('a')] }, ['lack since 1', 'requeue 6000'], 1],
  ['waits at least a second', { runners: [busy('a')], meanCaptureMilliseconds: 10 }, ['lack since 0', 'requeue 1000']],
  [
    'keeps an idle pod besides a pod that stays busy',
    { runners: [busy('a')], memory: { lackSince: NOON.getTime() } },
    ['no lack', 'create 7'],
    6,
  ],
  ['resets a lack that has ended', { runners: [named('a')], memory: { lackSince: 1 } }, ['no lack']],
  [
    'counts a terminating pod against maxPods',
    { runners: [busy('a'), busy('b'), busy('c'), named('d', { state: 'terminating' })], queued: 9 },
    [],
  ],
  [
    'does not count a terminating pod that is overdue',
    {
      queued: 1,
      runners: [
        busy('a'),
        busy('b'),
        busy('c'),
        named('d', { state: 'terminating', pod: aPod({ deletionTimestamp: NOON.toISOString() }) }),
      ],
    },
    ['create 7'],
    31,
  ],
  ['waits for these before it creates more', { spec: { minIdle: 40, maxPods: 100 }, runners: each('a b c', unready), unseen: 1 }, []],
  [
    'doubles a pool with a proven template',
    { spec: { minIdle: 40, maxPods: 100 }, runners: each('a b c d e f', named) },
    ['create 7,8,9,10,11,12'],
  ],
  ['creates one pod at a time after a failed start', { spec: { minIdle: 3 }, memory: { failedStarts: 1 } }, ['create 7']],
  [
    'creates no pods for Screenshots whose account is at its limit',
    { runners: [named('a')], queued: 900, heldBack: new Map([['acme', 900]]) },
    [],
  ],
  [
    'requeues for the end of a runner’s backoff when Screenshots wait',
    { spec: { maxPods: 1 }, runners: [named('a', { backoffUntil: at(2).getTime() })], queued: 1 },
    ['requeue 2000'],
  ],

  ['deletes an ended pod and creates another', { runners: [named('a', { state: 'ended' })] }, ['delete a ended', 'create 7']],
  [
    'counts a pod that ended before it could capture as a failed start',
    { runners: [named('a', { state: 'ended', sandbox: undefined, pod: aPod({ name: 'a', status: endedStatus(1) }) })] },
    ['noteFailedStart a runner exited before it was ready: exit code 1', 'delete a ended', 'create 7'],
  ],
  ['waits longer after each failed start', { memory: { failedStarts: 4, lastFailureAt: at(10).getTime() } }, ['requeue 7000'], 11],
  ['has a maximum backoff of a minute', { memory: { failedStarts: 40, lastFailureAt: at(10).getTime() } }, ['create 7'], 70],

  [
    'replaces a pod that has reached its capture limit',
    { spec: { capturesPerPod: 5 }, runners: [named('a', { captures: 5 })] },
    ['delete a spent', 'create 7'],
  ],
  [
    'starts the successor of a pod before its last capture ends',
    { spec: { capturesPerPod: 1 }, runners: [busy('a', { captures: 1 })] },
    ['create 7'],
  ],
  [
    'deletes a pod near its capture limit when its successor is ready',
    { spec: { capturesPerPod: 10 }, runners: [named('a', { captures: 9 }), named('b')] },
    ['delete a stale'],
  ],
  ['replaces a pod that lost three orders in a row', { runners: [named('a', { losses: 3 })] }, ['delete a spent', 'create 7']],
  ['deletes a pod of the old template when its successor is ready', { runners: [old('a'), named('b')] }, ['delete a stale']],
  [
    'replaces a full pool in parts when the template has changed',
    {
      spec: { minIdle: 8, maxPods: 8 },
      runners: each('a b c d e f g h', old),
    },
    ['delete a stale', 'delete b stale'],
  ],
  [
    'replaces no more pods before their successors are ready',
    {
      spec: { minIdle: 8, maxPods: 8 },
      runners: [...each('a b c d e f', old), unready('g'), unready('h')],
    },
    [],
  ],
  [
    'replaces no pods while there is room for successors',
    {
      spec: { minIdle: 4, maxPods: 4 },
      runners: each('a b c', old),
    },
    ['create 7'],
  ],
  [
    'replaces no pods for a template with a failed start',
    {
      spec: { maxPods: 1 },
      runners: [old('a')],
      memory: { failedStarts: 1 },
    },
    [],
  ],
  [
    'deletes a pod of the old template at once that was never ready',
    { runners: [{ ...unready('a'), templateHash: 'old' }] },
    ['delete a stale', 'create 7'],
  ],
  ['keeps a busy pod of the old template', { runners: [busy('a', { templateHash: 'old' }), named('b')] }, []],
  [
    'replaces a pod that never became ready',
    { runners: [unready('a')] },
    [`noteFailedStart ${notReady}`, 'delete a stuck', 'create 7'],
    301,
  ],
  ['uses the readiness grace period of the pool', { spec: { readinessGraceSeconds: 600 }, runners: [unready('a')] }, [], 301],
  ['does not replace an unschedulable pod', { runners: [unready('a', unschedulableStatus())] }, [], 301],
  [
    'replaces a pod that has not been ready for a minute',
    { runners: [named('a', { state: 'waiting' })] },
    ['delete a stuck', 'create 7'],
    61,
  ],
  [
    'replaces a ready pod that never proved its identity',
    { runners: [named('a', { sandbox: undefined })] },
    [`noteFailedStart ${notReady}`, 'delete a stuck', 'create 7'],
    301,
  ],

  ['keeps a surplus for a while', { runners: [named('a'), named('b')] }, ['surplus since 5', 'requeue 120000'], 5],
  [
    'deletes the pods that have been idle longest when the surplus lasts',
    {
      runners: [
        named('a', { idleSince: at(3).getTime() }),
        named('b', { idleSince: at(1).getTime() }),
        named('c', { idleSince: at(2).getTime() }),
      ],
      memory: { surplusSince: NOON.getTime() },
    },
    ['delete b surplus', 'delete c surplus'],
    120,
  ],
  [
    'deletes unschedulable pods before working ones',
    {
      runners: [named('a'), unready('b'), unready('c', unschedulableStatus())],
      memory: { surplusSince: NOON.getTime() },
    },
    ['delete c surplus', 'delete b surplus'],
    120,
  ],
  [
    'never deletes busy pods because of a surplus',
    { spec: { maxPods: 1 }, runners: [busy('a'), busy('b')], memory: { surplusSince: 1 } },
    ['no surplus'],
    999,
  ],

  ['keeps a fresh idle pod besides a pod that is dedicated to an account', { runners: [dedicated('a')] }, ['create 7']],
  [
    'keeps a dedicated pod while its account has queued Screenshots',
    {
      runners: [dedicated('a'), unfenced('b')],
      accountsWaiting: ['acc'],
    },
    [],
    9_999,
  ],
  ['deletes a dedicated pod when its account has been idle', { runners: [dedicated('a'), unfenced('b')] }, ['delete a dedicated'], 121],
  [
    'deletes a dedicated pod at once when another account needs its place',
    {
      spec: { maxPods: 1 },
      runners: [dedicated('a')],
      accountsWaiting: ['other'],
      queued: 1,
    },
    ['delete a dedicated'],
  ],
]
for (const [name, given, does, second = 0] of cases) {
  t.test(`decide ${name}`, async (t) => {
    const actions = decide(observed(given), at(second)).map(summarize)
    t.strictSame(
      actions.filter((action) => action !== 'requeue 30000'),
      does,
    )
  })
}
