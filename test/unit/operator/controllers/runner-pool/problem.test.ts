import t from 'tap'
import type { Pod } from '../../../../../crds/client/core-resources.ts'
import { findProblem } from '../../../../../operator/src/controllers/runner-pool/conditions.ts'
import type { PoolMemory, Problem } from '../../../../../operator/src/controllers/runner-pool/state.ts'
import { group } from '../../../../../operator/src/scheduling/groups.ts'
import { aRunnerPool, NOON } from '../../../../support/fakes/builders.ts'
import { aPod, aRunner, freshMemory } from '../../../../support/fakes/runners.ts'

const pool = aRunnerPool()

const problemOf = (status: Pod['status'], given: Partial<PoolMemory> = {}): Problem | undefined => {
  const runners = [aRunner({ state: 'waiting', sandbox: undefined, pod: aPod({ status }) })]
  return findProblem(group({ runners, pool, templateHash: 'current' }, NOON.getTime()), { ...freshMemory, ...given }, pool.spec)
}
const waiting = (reason: string, message?: string): Pod['status'] => ({
  phase: 'Pending',
  containerStatuses: [
    {
      name: 'runner',
      ready: false,
      restartCount: 0,
      image: '',
      imageID: '',
      state: { waiting: message === undefined ? { reason } : { reason, message } },
    },
  ],
})

t.test('findProblem quotes the scheduler, and says what to do', async (t) => {
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/2 nodes: Insufficient memory' }
  const problem = problemOf({ phase: 'Pending', conditions: [condition] })
  t.match(problem, { reason: 'Unschedulable', message: /^no node can run a runner: 0\/2 nodes: Insufficient memory. Add nodes/ })
})

t.test('findProblem distinguishes an image that cannot be pulled from a container that does not start', async (t) => {
  t.match(problemOf(waiting('ErrImagePull', 'not found')), {
    reason: 'ImagePullFailed',
    message: /capture-runner:test cannot be pulled: ErrImagePull: not found. Correct/,
  })
  t.match(problemOf(waiting('CreateContainerConfigError', 'no such Secret')), {
    reason: 'RunnersFailing',
    message: 'the container of a runner does not start: CreateContainerConfigError: no such Secret',
  })
})

t.test('findProblem reports the same while the kubelet pulls and while it pauses', async (t) => {
  const pulls = problemOf(waiting('ErrImagePull', 'not found'))
  t.strictSame(problemOf(waiting('ImagePullBackOff', 'Back-off pulling image "x": ErrImagePull: not found')), pulls)
})

t.test('findProblem reports the last failed start', async (t) => {
  const lastFailure = { reason: 'PodsRefused', message: 'exceeded quota' } as const
  t.strictSame(problemOf({ phase: 'Pending' }, { failedStarts: 1, lastFailure }), lastFailure)
})

t.test('findProblem finds no problem in pods that are starting', async (t) => {
  t.equal(problemOf({ phase: 'Pending' }), undefined)
})
