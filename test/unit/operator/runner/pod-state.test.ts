import t from 'tap'
import { podState, unchangedSince, unschedulableReason, waitingReason } from '../../../../operator/src/runner/pod-state.ts'
import { at, NOON } from '../../../support/fakes/builders.ts'
import { aPod, endedStatus, readyStatus } from '../../../support/fakes/runners.ts'

const unready = { ...readyStatus(), conditions: [{ type: 'Ready', status: 'False' }] }
const deletionTimestamp = at(10).toISOString()
const states = [
  { name: 'a pod that responds is ready', pod: aPod(), state: 'ready' },
  { name: 'a pod whose probe fails is waiting', pod: aPod({ status: unready }), state: 'waiting' },
  { name: 'a pod that is not scheduled is waiting', pod: aPod({ status: { phase: 'Pending' } }), state: 'waiting' },
  { name: 'a pod without an IP address is waiting', pod: aPod({ status: readyStatus('') }), state: 'waiting' },
  { name: 'a pod whose deletion was requested is terminating', pod: aPod({ deletionTimestamp }), state: 'terminating' },
  { name: 'a pod whose process has ended has ended', pod: aPod({ status: endedStatus(1) }), state: 'ended' },
  {
    name: 'a pod whose deletion was requested and that has ended has ended',
    pod: aPod({ status: endedStatus(0), deletionTimestamp }),
    state: 'ended',
  },
  { name: 'an evicted pod that never ran has ended', pod: aPod({ status: { phase: 'Failed', reason: 'Evicted' } }), state: 'ended' },
  {
    name: 'a terminating pod with the phase Failed may still run',
    pod: aPod({ status: { phase: 'Failed' }, deletionTimestamp }),
    state: 'terminating',
  },
]
for (const { name, pod, state } of states) t.test(`podState: ${name}`, async (t) => t.equal(podState(pod), state))

t.test('unschedulableReason returns the message of the scheduler', async (t) => {
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes: Insufficient memory' }
  t.equal(unschedulableReason(aPod({ status: { conditions: [condition] } })), '0/1 nodes: Insufficient memory')
  const { message: _, ...silent } = condition
  t.equal(unschedulableReason(aPod({ status: { conditions: [silent] } })), 'no node fits')
  t.equal(unschedulableReason(aPod()), undefined)
})

t.test('waitingReason returns the message of the kubelet, and nothing during creation', async (t) => {
  const waiting = (state: { reason?: string; message?: string }) =>
    aPod({
      status: { containerStatuses: [{ name: 'runner', ready: false, restartCount: 0, image: '', imageID: '', state: { waiting: state } }] },
    })
  t.strictSame(waitingReason(waiting({ reason: 'ErrImagePull', message: 'no such image' })), {
    isImage: true,
    text: 'ErrImagePull: no such image',
  })
  t.strictSame(waitingReason(waiting({ reason: 'RunContainerError' })), { isImage: false, text: 'RunContainerError' })
  t.equal(waitingReason(waiting({ reason: 'ContainerCreating' })), undefined)
  t.equal(waitingReason(aPod()), undefined)
})

t.test('unchangedSince is the last change of the condition Ready, else the creation', async (t) => {
  const since = at(5).toISOString()
  t.equal(unchangedSince(aPod({ status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }] } })), at(5).getTime())
  t.equal(unchangedSince(aPod({ status: {} })), NOON.getTime())
})
