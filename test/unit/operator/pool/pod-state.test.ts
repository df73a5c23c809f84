import t from 'tap'
import { endOf, podState, unchangedSince, unschedulableReason, waitingReason } from '../../../../operator/src/pool/pod-state.ts'
import { at, NOON } from '../../../support/builders.ts'
import { aPod, endedStatus, readyStatus } from '../../../support/runners.ts'

const unready = { ...readyStatus(), conditions: [{ type: 'Ready', status: 'False' }] }
const deletionTimestamp = at(10).toISOString()
const states = [
  { name: 'a pod that answers is ready', pod: aPod(), state: 'ready' },
  { name: 'a pod whose probe fails waits', pod: aPod({ status: unready }), state: 'waiting' },
  { name: 'a pod that is not scheduled waits', pod: aPod({ status: { phase: 'Pending' } }), state: 'waiting' },
  { name: 'a pod without an address waits', pod: aPod({ status: readyStatus('') }), state: 'waiting' },
  { name: 'a pod that was asked to go is leaving', pod: aPod({ deletionTimestamp }), state: 'leaving' },
  { name: 'a pod whose process has ended has ended', pod: aPod({ status: endedStatus(1) }), state: 'ended' },
  { name: 'a pod that was asked to go and has ended has ended', pod: aPod({ status: endedStatus(0), deletionTimestamp }), state: 'ended' },
  { name: 'an evicted pod that never ran has ended', pod: aPod({ status: { phase: 'Failed', reason: 'Evicted' } }), state: 'ended' },
  {
    name: 'a pod that is called failed while it goes may still run',
    pod: aPod({ status: { phase: 'Failed' }, deletionTimestamp }),
    state: 'leaving',
  },
]
for (const { name, pod, state } of states) t.test(`podState: ${name}`, async (t) => t.equal(podState(pod), state))

const ends = [
  { name: 'recognizes memory by the kubelet’s word', status: endedStatus(1, 'OOMKilled'), outOfMemory: true, text: 'out of memory (137)' },
  { name: 'recognizes memory by exit code 137', status: endedStatus(137), outOfMemory: true, text: 'out of memory (137)' },
  { name: 'tells any other exit code', status: endedStatus(3), outOfMemory: false, text: 'exit code 3' },
  { name: 'tells why a pod without a process ended', status: { phase: 'Failed', reason: 'Evicted' }, outOfMemory: false, text: 'Evicted' },
]
for (const { name, status, ...end } of ends) t.test(`endOf ${name}`, async (t) => t.strictSame(endOf(aPod({ status })), end))

t.test('endOf knows nothing of a pod that runs', async (t) => t.equal(endOf(aPod()), undefined))

t.test('unschedulableReason repeats the scheduler', async (t) => {
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes: Insufficient memory' }
  t.equal(unschedulableReason(aPod({ status: { conditions: [condition] } })), '0/1 nodes: Insufficient memory')
  const { message: _, ...silent } = condition
  t.equal(unschedulableReason(aPod({ status: { conditions: [silent] } })), 'no node fits')
  t.equal(unschedulableReason(aPod()), undefined)
})

t.test('waitingReason repeats the kubelet, and takes creation for no reason', async (t) => {
  const waiting = (state: { reason?: string; message?: string }) =>
    aPod({
      status: { containerStatuses: [{ name: 'runner', ready: false, restartCount: 0, image: '', imageID: '', state: { waiting: state } }] },
    })
  t.equal(waitingReason(waiting({ reason: 'ImagePullBackOff', message: 'no such image' })), 'ImagePullBackOff: no such image')
  t.equal(waitingReason(waiting({ reason: 'ErrImagePull' })), 'ErrImagePull')
  t.equal(waitingReason(waiting({ reason: 'ContainerCreating' })), undefined)
  t.equal(waitingReason(aPod()), undefined)
})

t.test('unchangedSince is the last change of readiness, else the creation', async (t) => {
  const since = at(5).toISOString()
  t.equal(unchangedSince(aPod({ status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }] } })), at(5).getTime())
  t.equal(unchangedSince(aPod({ status: {} })), NOON.getTime())
})
