import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import { unschedulableReason, waitingReason } from '../../runner/pod-state.ts'
import type { Groups } from '../../scheduling/groups.ts'
import type { PoolMemory, Problem } from '../../scheduling/pool-state.ts'

/**
 * Finds out why runners do not become ready, in the cluster's own words; undefined when no problem is known. The message contains no counts
 * and no pod names, so that it does not change with each pod that has the same problem. Pure.
 */
export function findProblem({ starting }: Groups, memory: PoolMemory, spec: RunnerPool['spec']): Problem | undefined {
  for (const { pod } of starting) {
    const unschedulable = unschedulableReason(pod)
    if (unschedulable !== undefined)
      return { reason: 'Unschedulable', message: `no node can run a runner: ${unschedulable.replace(/\.$/, '')}. ${ROOM}` }
    const waiting = waitingReason(pod)
    if (waiting?.isImage)
      return { reason: 'ImagePullFailed', message: `${spec.podTemplate.image} cannot be pulled: ${waiting.text}. ${IMAGE}` }
    if (waiting) return { reason: 'RunnersFailing', message: `the container of a runner does not start: ${waiting.text}` }
  }
  return memory.failedStarts > 0 ? memory.lastFailure : undefined
}

const ROOM =
  'Add nodes, lower spec.podTemplate.resources.requests or spec.maxPods, or correct nodeSelector and tolerations. The operator retries automatically.'
const IMAGE = 'Correct spec.podTemplate.image or imagePullSecrets. The operator retries automatically.'
