// Pods and runners for tests of the operator's rules.

import type { Pod } from '../../../crds/client/kinds.ts'
import { Label } from '../../../crds/src/identifiers/names.ts'
import type { PoolMemory, PoolObserved } from '../../../operator/src/controllers/runner-pool/decide.ts'
import type { Runner } from '../../../operator/src/runner/runners.ts'
import { NOON } from './builders.ts'

/** State of a leader for a pool that it sees for the first time. */
export const freshMemory: Readonly<PoolMemory> = {
  surplusSince: undefined,
  lackSince: undefined,
  failedStarts: 0,
  lastFailureAt: 0,
  lastFailure: undefined,
  templateHash: 'current',
  statusWrittenAt: 0,
}

/** What a leader observes besides its pool: no runner, and no queued Screenshot. */
export const quiet: Omit<PoolObserved, 'pool'> = {
  runners: [],
  unseen: 0,
  nextOrdinal: 7,
  templateHash: 'current',
  queued: 0,
  heldBack: new Map(),
  accountsWaiting: [],
  meanCaptureMilliseconds: 3_000,
  guard: { guarded: true, reason: 'PolicyInForce', message: 'in force' },
  memory: freshMemory,
}

/** A pod that is ready since noon, unless `status` says otherwise. */
export function aPod({
  name = 'default-1',
  uid = `uid-of-${name}`,
  status = readyStatus(),
  ...metadata
}: {
  name?: string
  uid?: string
  status?: Pod['status']
  deletionTimestamp?: string
} = {}): Pod {
  return {
    metadata: {
      name,
      namespace: 'default',
      uid,
      resourceVersion: '1',
      creationTimestamp: NOON.toISOString(),
      labels: { [Label.pool]: 'default', [Label.templateHash]: 'current' },
      ...metadata,
    },
    status,
  }
}

type Status = NonNullable<Pod['status']>
type State = NonNullable<NonNullable<Status['containerStatuses']>[0]['state']>

const containerIn = (state: State, ready = false) => ({ name: 'runner', ready, restartCount: 0, image: 'i', imageID: 'i', state })

/** Status of a ready pod. */
export const readyStatus = (podIP = '10.0.0.1'): Status => ({
  phase: 'Running',
  podIP,
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: NOON.toISOString() }],
  containerStatuses: [containerIn({ running: { startedAt: NOON.toISOString() } }, true)],
})

/** Status of a pod whose process has ended. */
export const endedStatus = (exitCode: number, reason = 'Error'): Status => ({
  phase: 'Failed',
  containerStatuses: [containerIn({ terminated: { exitCode, reason } })],
})

/** Status of a pod whose container the kubelet has not started. */
export const waitingStatus = (waiting: State['waiting'] & object): Status => ({
  phase: 'Pending',
  containerStatuses: [containerIn({ waiting })],
})

/** Status of a pod that fits on no node. */
export const unschedulableStatus = (message = 'Insufficient memory'): Status => ({
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
})

/** An idle, unused runner with a sandbox. */
export function aRunner({ name = 'default-1', pod = aPod({ name }), ...given }: Partial<Runner> = {}): Runner {
  return {
    name,
    uid: pod.metadata.uid ?? '',
    pod,
    state: 'ready',
    templateHash: 'current',
    sandbox: { chromiumSandbox: true, jail: true, detail: '' },
    workingOn: undefined,
    isStoring: false,
    accountName: undefined,
    captures: 0,
    losses: 0,
    idleSince: NOON.getTime(),
    backoffUntil: 0,
    ...given,
  }
}
