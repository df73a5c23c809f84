import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import { unschedulableReason, waitingReason } from '../runner/pod-state.ts'
import type { Groups } from './groups.ts'
import type { PoolMemory, Problem } from './state.ts'

/**
 * Why runners do not come up, in the cluster's own words; undefined when nothing is known to be wrong. No number and no name of a pod is in the
 * message: it must not change with each pod that meets the same obstacle. Pure.
 */
export function findProblem({ starting }: Groups, memory: PoolMemory, spec: RunnerPool['spec']): Problem | undefined {
  for (const { pod } of starting) {
    const unschedulable = unschedulableReason(pod)
    if (unschedulable !== undefined)
      return { reason: 'Unschedulable', message: `no node takes a runner: ${unschedulable.replace(/\.$/, '')}. ${ROOM}` }
    const waiting = waitingReason(pod)
    if (waiting?.isImage)
      return { reason: 'ImagePullFailed', message: `${spec.podTemplate.image} cannot be had: ${waiting.text}. ${IMAGE}` }
    if (waiting) return { reason: 'RunnersFailing', message: `a runner’s container does not start: ${waiting.text}` }
  }
  return memory.failedStarts > 0 ? memory.lastFailure : undefined
}

const ROOM =
  'Remedy: add nodes, lower spec.podTemplate.resources.requests or spec.maxPods, or mend nodeSelector and tolerations; it is tried again by itself.'
const IMAGE = 'Remedy: mend spec.podTemplate.image or imagePullSecrets; it is tried again by itself.'
