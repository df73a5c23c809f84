import t from 'tap'
import type { Pod } from '../../../../../crds/client/kinds.ts'
import type { RunnerPoolSpec } from '../../../../../crds/src/kinds/runner-pool.ts'
import { type Condition, findCondition } from '../../../../../crds/src/schema/conditions.ts'
import { buildStatus, findProblem, isUrgent, poolEvents } from '../../../../../operator/src/controllers/runner-pool/conditions.ts'
import type { PoolMemory, PoolObserved, Problem } from '../../../../../operator/src/controllers/runner-pool/decide.ts'
import type { Runner } from '../../../../../operator/src/runner/runners.ts'
import { group } from '../../../../../operator/src/scheduling/growth.ts'
import { aRunnerPool, NOON } from '../../../../support/fakes/builders.ts'
import { aPod, aRunner, freshMemory, quiet, unschedulableStatus, waitingStatus } from '../../../../support/fakes/runners.ts'

const pool = aRunnerPool()

const problemOf = (status: Pod['status'], given: Partial<PoolMemory> = {}): Problem | undefined => {
  const runners = [aRunner({ state: 'waiting', sandbox: undefined, pod: aPod({ status }) })]
  return findProblem(group({ runners, pool, templateHash: 'current' }, NOON.getTime()), { ...freshMemory, ...given }, pool.spec)
}
t.test('findProblem quotes the scheduler, and says what to do', async (t) => {
  const problem = problemOf(unschedulableStatus('0/2 nodes: Insufficient memory'))
  t.match(problem, { reason: 'Unschedulable', message: /^no node can run a runner: 0\/2 nodes: Insufficient memory. Add nodes/ })
})

t.test('findProblem distinguishes an image that cannot be pulled from a container that does not start', async (t) => {
  t.match(problemOf(waitingStatus({ reason: 'ErrImagePull', message: 'not found' })), {
    reason: 'ImagePullFailed',
    message: /capture-runner:test cannot be pulled: ErrImagePull: not found. Correct/,
  })
  t.match(problemOf(waitingStatus({ reason: 'CreateContainerConfigError', message: 'no such Secret' })), {
    reason: 'RunnersFailing',
    message: 'the container of a runner does not start: CreateContainerConfigError: no such Secret',
  })
})

t.test('findProblem reports the same while the kubelet pulls and while it pauses', async (t) => {
  const pulls = problemOf(waitingStatus({ reason: 'ErrImagePull', message: 'not found' }))
  t.strictSame(
    problemOf(waitingStatus({ reason: 'ImagePullBackOff', message: 'Back-off pulling image "x": ErrImagePull: not found' })),
    pulls,
  )
})

t.test('findProblem reports the last failed start', async (t) => {
  const lastFailure = { reason: 'PodsRefused', message: 'exceeded quota' } as const
  t.strictSame(problemOf({ phase: 'Pending' }, { failedStarts: 1, lastFailure }), lastFailure)
})

t.test('findProblem finds no problem in pods that are starting', async (t) => {
  t.equal(problemOf({ phase: 'Pending' }), undefined)
})

type Given = Partial<PoolObserved> & Pick<PoolObserved, 'runners'> & { name?: string; spec?: Partial<RunnerPoolSpec>; before?: Condition[] }

/** The status of a pool, which had these conditions before. */
function statusOf({ name = 'default', spec = {}, before = [], ...given }: Given) {
  const pool = aRunnerPool({ name, spec: { minIdle: 1, maxPods: 2, ...spec }, status: { conditions: before } })
  const observed = { ...quiet, ...given, pool }
  return buildStatus(observed, group(observed, NOON.getTime()), NOON)
}
const conditionOf = (status: ReturnType<typeof statusOf>, type: string) => findCondition(status.conditions, type)

/** The status of a pool whose runners are on a node that allows no sandbox. */
const withoutSandbox = (mode: 'auto' | 'required') =>
  statusOf({
    spec: { sandbox: { mode } },
    runners: [aRunner({ sandbox: { chromiumSandbox: false, jail: false, detail: 'unshare: Operation not permitted' } })],
  })

t.test('buildStatus says that runners without a sandbox serve only one account each, and what to do', async (t) => {
  const status = withoutSandbox('auto')
  t.match(conditionOf(status, 'Ready'), { status: 'True', reason: 'RunnersReady' })
  t.match(conditionOf(status, 'Sandboxed'), {
    status: 'False',
    reason: 'BrowserNotFenced',
    message: /each pod serves only one account.*not permitted\. Install the seccomp/,
  })
})

t.test('buildStatus says why nothing is captured when the pool requires a sandbox that its runners do not have', async (t) => {
  const status = withoutSandbox('required')
  const sandboxed = conditionOf(status, 'Sandboxed')
  t.match(conditionOf(status, 'Ready'), { status: 'False', reason: 'SandboxRequired', message: /nothing is captured.*Sandboxed/ })
  t.match(sandboxed, { status: 'False', reason: 'BrowserNotFenced', message: /not permitted\. Install the seccomp/ })
  t.notMatch(sandboxed?.message, /one account/)
})

const recorder = { available: true, detail: '' }
const missing = { available: false, detail: 'ffmpeg was not found.' }

/** Conditions of a pool that records videos. */
function videoConditionsOf(runners: Partial<Runner>[], before: Condition[] = [], video = true) {
  const { conditions = [] } = statusOf({ runners: runners.map(aRunner), spec: { video }, before })
  return { conditions, ready: findCondition(conditions, 'Ready'), videoReady: findCondition(conditions, 'VideoReady') }
}

t.test('buildStatus says whether the runners of a pool that records videos can', async (t) => {
  const able = videoConditionsOf([{ video: recorder }])
  t.match(able.videoReady, { status: 'True', reason: 'VideoAvailable' })
  t.match(able.ready, { status: 'True', reason: 'RunnersReady' })
  t.match(videoConditionsOf([]).videoReady, { status: 'Unknown', reason: 'NotKnown' })
  const unable = videoConditionsOf([{ video: missing }])
  t.match(unable.videoReady, {
    status: 'False',
    reason: 'VideoUnavailable',
    message:
      /^the runners cannot record videos: ffmpeg was not found\. tintype\/capture-runner:test must be the image capture-runner-video/,
  })
  t.match(unable.ready, { status: 'False', reason: 'VideoUnavailable', message: /nothing is captured.*VideoReady/ })
  t.match(videoConditionsOf([{}]).videoReady?.message, /does not know videos/)
  t.match(videoConditionsOf([{ video: recorder }, { video: missing }]).videoReady, { status: 'False' })
})

t.test('buildStatus keeps the last result of VideoReady while no runner exists', async (t) => {
  for (const video of [recorder, missing]) {
    const { conditions, videoReady } = videoConditionsOf([{ video }])
    t.match(videoConditionsOf([], conditions).videoReady, { status: videoReady?.status, reason: videoReady?.reason })
  }
})

t.test('buildStatus has the condition VideoReady only for pools that record videos', async (t) => {
  const { conditions } = videoConditionsOf([{ video: recorder }])
  t.notOk(videoConditionsOf([{ video: recorder }], conditions, false).videoReady)
})

t.test('poolEvents reports that the runners cannot record, and that they can again', async (t) => {
  const unable = { conditions: videoConditionsOf([{ video: missing }]).conditions }
  const able = { conditions: videoConditionsOf([{ video: recorder }]).conditions }
  const reasonsOf = (events: ReturnType<typeof poolEvents>) => events.map(({ type, reason }) => `${type} ${reason}`)
  t.ok(reasonsOf(poolEvents(able, unable)).includes('Warning VideoUnavailable'))
  t.ok(reasonsOf(poolEvents(unable, able)).includes('Normal VideoAvailable'))
})

const pending = aRunner({
  name: 'b',
  state: 'waiting',
  sandbox: undefined,
  pod: aPod({ name: 'b', status: unschedulableStatus() }),
})

t.test('buildStatus says that a pool with runners cannot grow', async (t) => {
  const status = statusOf({ runners: [aRunner(), pending], queued: 9 })
  t.match(conditionOf(status, 'Ready'), { status: 'True' })
  t.match(conditionOf(status, 'Scaled'), { status: 'False', reason: 'Unschedulable', message: /Insufficient memory. Add nodes/ })
  t.match(status, { replicas: 2, wanted: 2, updated: 2, idle: 1, busy: 0, queued: 9 })
})

t.test('buildStatus says that Screenshots wait because of maxPods', async (t) => {
  const busy = ['a', 'b'].map((name) => aRunner({ name, workingOn: `default/${name}` }))
  t.match(conditionOf(statusOf({ runners: busy, queued: 9 }), 'Scaled'), { status: 'False', reason: 'AtMaximum', message: /\(2\)/ })
})

t.test('the pool names the accounts whose Screenshots wait because the accounts are at their limit', async (t) => {
  const busy = ['a', 'b'].map((name) => aRunner({ name, workingOn: `default/${name}` }))
  const heldBack = new Map(['acme', 'beta', 'corp', 'dent'].map((account, place) => [account, 2 + place]))
  const status = statusOf({ runners: busy, queued: 14, heldBack })
  t.match(status, { queued: 14, heldBack: 14 })
  const message =
    /Screenshots of acme, beta, corp and 1 more wait, because their account runs as many captures as it may \(maxRunning of its plan\)/
  t.match(conditionOf(status, 'Scaled'), { status: 'True', reason: 'AsWanted', message })
})

t.test('a full pool with an idle runner says for whom it is kept', async (t) => {
  const runners = [aRunner(), aRunner({ name: 'b', workingOn: 'default/b' })]
  const full = conditionOf(statusOf({ runners, queued: 9 }), 'Scaled')
  t.match(full, { reason: 'AtMaximum', message: /The last runner is kept for accounts that run nothing/ })
})

t.test('buildStatus does not report a past failure once the pool has its desired size', async (t) => {
  const failed = { ...freshMemory, failedStarts: 3, lastFailure: { reason: 'RunnersFailing', message: 'exit code 1' } as const }
  t.match(conditionOf(statusOf({ runners: [aRunner()], memory: failed }), 'Scaled'), { status: 'True' })
  t.match(conditionOf(statusOf({ runners: [], memory: failed }), 'Ready'), { status: 'False', reason: 'RunnersFailing' })
})

t.test('poolEvents reports a problem of two conditions once, and its end', async (t) => {
  const well = statusOf({ runners: [aRunner()] })
  const ill = statusOf({ runners: [pending] })
  t.match(poolEvents(well, ill), [{ type: 'Warning', reason: 'Unschedulable' }])
  t.strictSame(poolEvents(ill, ill), [])
  t.match(poolEvents(ill, well), [
    { type: 'Normal', reason: 'RunnersReady', message: /Previous reason: Unschedulable/ },
    { type: 'Normal', reason: 'AsWanted' },
  ])
  t.strictSame(poolEvents(undefined, well), [])
})

t.test('isUrgent is false for changes that follow the load', async (t) => {
  const scaled = { type: 'Scaled', message: '', lastTransitionTime: '' }
  t.notOk(isUrgent({ ...scaled, status: 'False', reason: 'AtMaximum' }))
  t.notOk(isUrgent({ ...scaled, status: 'True', reason: 'AsWanted' }))
  t.ok(isUrgent({ ...scaled, status: 'False', reason: 'Unschedulable' }))
  t.ok(isUrgent({ ...scaled, type: 'Ready', status: 'True', reason: 'RunnersReady' }))
})

t.test('buildStatus reports a pool whose name no Screenshot can have, although its runners are ready', async (t) => {
  const readyOf = (name: string) => conditionOf(statusOf({ name, runners: [aRunner()] }), 'Ready')
  for (const name of ['p'.repeat(64), 'gpu.large']) {
    t.match(readyOf(name), { status: 'False', reason: 'InvalidName', message: /dots or more than 63 characters\. Create another pool/ })
  }
  t.match(readyOf('p'.repeat(54)), { status: 'True' })
})
