// Pods and runners for tests of the operator's rules.

import type { Pod } from '../../../crds/client/core-resources.ts'
import { Label } from '../../../crds/src/identifiers/names.ts'
import type { PoolMemory } from '../../../operator/src/controllers/runner-pool/state.ts'
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

/** Status of a ready pod. */
export const readyStatus = (podIP = '10.0.0.1'): NonNullable<Pod['status']> => ({
  phase: 'Running',
  podIP,
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: NOON.toISOString() }],
  containerStatuses: [
    { name: 'runner', ready: true, restartCount: 0, image: 'i', imageID: 'i', state: { running: { startedAt: NOON.toISOString() } } },
  ],
})

/** Status of a pod whose process has ended. */
export const endedStatus = (exitCode: number, reason = 'Error'): NonNullable<Pod['status']> => ({
  phase: 'Failed',
  containerStatuses: [
    { name: 'runner', ready: false, restartCount: 0, image: 'i', imageID: 'i', state: { terminated: { exitCode, reason } } },
  ],
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
