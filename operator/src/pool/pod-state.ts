import type { Pod } from '@tintype/crds/client/core-resources'
import { RUNNER_CONTAINER } from './pod.ts'

/**
 * Where a runner's pod is in its life: `ready` answers; `waiting` does not yet, or not now; `leaving` was asked to go; `ended` has no
 * process any more.
 */
export type PodState = 'waiting' | 'ready' | 'leaving' | 'ended'

/** Exit code of a process that the kernel killed for memory (128 + SIGKILL). */
const KILLED = 137

/** Reads a pod's state from what the kubelet says. */
export function podState({ metadata, status }: Pod): PodState {
  if (terminationOf(status)) return 'ended'
  if (metadata.deletionTimestamp) return 'leaving'
  // An eviction or a refused admission ends a pod that never had a container.
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return 'ended'
  return conditionOf(status, 'Ready')?.status === 'True' && status?.podIP ? 'ready' : 'waiting'
}

/** How its process ended, in words; undefined while it runs. */
export function endOf({ status }: Pod): { outOfMemory: boolean; text: string } | undefined {
  const terminated = terminationOf(status)
  if (!terminated) return status?.reason === undefined ? undefined : { outOfMemory: false, text: status.reason }
  const outOfMemory = terminated.reason === 'OOMKilled' || terminated.exitCode === KILLED
  return { outOfMemory, text: outOfMemory ? 'out of memory (137)' : `exit code ${terminated.exitCode}` }
}

/** Why no node takes the pod, in the scheduler's words. */
export function unschedulableReason({ status }: Pod): string | undefined {
  const scheduled = conditionOf(status, 'PodScheduled')
  return scheduled?.status === 'False' && scheduled.reason === 'Unschedulable' ? (scheduled.message ?? 'no node fits') : undefined
}

/** Why its container does not start: ImagePullBackOff and the like. */
export function waitingReason({ status }: Pod): string | undefined {
  const waiting = containerOf(status)?.state?.waiting
  return waiting?.reason === undefined || waiting.reason === 'ContainerCreating'
    ? undefined
    : [waiting.reason, waiting.message].filter(Boolean).join(': ')
}

/** Since when the pod is as ready, or unready, as it is: epoch milliseconds. */
export function unchangedSince({ metadata, status }: Pod): number {
  return Date.parse(conditionOf(status, 'Ready')?.lastTransitionTime ?? metadata.creationTimestamp ?? '') || 0
}

const containerOf = (status: Pod['status']) => status?.containerStatuses?.find(({ name }) => name === RUNNER_CONTAINER)
const terminationOf = (status: Pod['status']) => containerOf(status)?.state?.terminated
const conditionOf = (status: Pod['status'], type: string) => status?.conditions?.find((condition) => condition.type === type)
