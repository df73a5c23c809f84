import t from 'tap'
import { findPodProblem, isOutdated, type Pod, staleOf } from '../../cluster/release/pod-problem.ts'

type Container = NonNullable<Pod['status']['containerStatuses']>[number]
const aPod = (container: Partial<Container>, deletionTimestamp?: string): Pod => ({
  kind: 'Pod',
  metadata: { name: 'operator-1', ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
  status: { phase: 'Running', containerStatuses: [{ name: 'operator', restartCount: 0, ...container }] },
})
const waiting = (reason: string, message?: string) => ({ state: { waiting: { reason, ...(message === undefined ? {} : { message }) } } })

const cases: { name: string; pod: Pod; trouble: string | undefined }[] = [
  {
    name: 'a missing image',
    pod: aPod(waiting('ErrImageNeverPull', 'image "x" is not present')),
    trouble: 'pod operator-1: ErrImageNeverPull, image "x" is not present',
  },
  {
    name: 'a program that crashes repeatedly',
    pod: aPod({ ...waiting('CrashLoopBackOff'), restartCount: 4, lastState: { terminated: { exitCode: 2 } } }),
    trouble: 'pod operator-1: restarted 4 times, last exit code 2',
  },
  { name: 'nothing in a program that crashed once', pod: aPod({ ...waiting('CrashLoopBackOff'), restartCount: 1 }), trouble: undefined },
  {
    name: 'nothing in a pod whose Secret the kubelet has not read in time',
    pod: aPod(waiting('CreateContainerConfigError', 'failed to sync secret cache: timed out waiting for the condition')),
    trouble: undefined,
  },
  {
    name: 'a missing Secret',
    pod: aPod(waiting('CreateContainerConfigError', 'secret "x" not found')),
    trouble: 'pod operator-1: CreateContainerConfigError, secret "x" not found',
  },
  { name: 'nothing in a pod that starts', pod: aPod(waiting('ContainerCreating')), trouble: undefined },
  { name: 'nothing in a pod that is being deleted', pod: aPod(waiting('ImagePullBackOff'), '2026-11-21T12:00:00Z'), trouble: undefined },
  { name: 'nothing in a pod without containers yet', pod: { kind: 'Pod', metadata: { name: 'new' }, status: {} }, trouble: undefined },
]
for (const { name, pod, trouble } of cases) {
  t.test(`findPodProblem finds ${name}`, async (t) => t.equal(findPodProblem([pod]), trouble))
}

t.test('staleOf lists pods with status Running whose containers do not run', async (t) => {
  const running = new Set(['abc'])
  t.strictSame(staleOf([aPod({ containerID: 'containerd://abc' })], running), [])
  t.strictSame(staleOf([aPod({})], running), [])
  t.strictSame(staleOf([aPod({ containerID: 'containerd://old' })], running), ['operator-1, which restarts'])
  t.strictSame(staleOf([aPod({ containerID: 'containerd://old' }, 'now')], running), [])
  t.strictSame(staleOf([{ ...aPod({ containerID: 'containerd://old' }), status: { phase: 'Succeeded' } }], running), [])
})

t.test('isOutdated is true only for a runner whose image was removed', async (t) => {
  const gone = aPod(waiting('ErrImageNeverPull'))
  const runner = (pod: Pod): Pod => ({ ...pod, metadata: { ...pod.metadata, labels: { 'tintype.dev/pool': 'default' } } })
  t.ok(isOutdated(runner(gone)))
  t.notOk(isOutdated(gone), 'the release itself has its images')
  t.notOk(isOutdated(runner(aPod(waiting('CrashLoopBackOff')))), 'it has an image')
})
