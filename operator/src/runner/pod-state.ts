import type { Pod } from '@tintype/crds/client/core-resources'
import { containerOf, terminationOf } from './pod-end.ts'

/**
 * Where a runner's pod is in its life: `ready` answers; `waiting` does not yet, or not now; `terminating` was asked to go; `ended` has no
 * process any more.
 */
export type PodState = 'waiting' | 'ready' | 'terminating' | 'ended'

/** Reads a pod's state from what the kubelet says. */
export function podState({ metadata, status }: Pod): PodState {
  if (terminationOf(status)) return 'ended'
  if (metadata.deletionTimestamp) return 'terminating'
  // An eviction or a refused admission ends a pod that never had a container.
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return 'ended'
  return conditionOf(status, 'Ready')?.status === 'True' && status?.podIP ? 'ready' : 'waiting'
}

/** Why no node takes the pod, in the scheduler's words. */
export function unschedulableReason({ status }: Pod): string | undefined {
  const scheduled = conditionOf(status, 'PodScheduled')
  return scheduled?.status === 'False' && scheduled.reason === 'Unschedulable' ? (scheduled.message ?? 'no node fits') : undefined
}

/** Why its container does not start, in the kubelet's words. */
export interface WaitingContainer {
  /** The image cannot be had. */
  isImage: boolean
  text: string
}

const IMAGE_REASONS: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
])

/** Undefined for a container that runs, or is merely being made. */
export function waitingReason({ status }: Pod): WaitingContainer | undefined {
  const waiting = containerOf(status)?.state?.waiting
  if (waiting?.reason === undefined || waiting.reason === 'ContainerCreating' || waiting.reason === 'PodInitializing') return undefined
  const { reason, message } = waiting
  const isImage = IMAGE_REASONS.has(reason)
  // The kubelet alternates between the pull and the pause after it: what lasts is what it was told by the registry.
  const lasting = isImage ? message?.replace(/^.*ErrImagePull: /s, '') : message
  const word = reason === 'ImagePullBackOff' ? 'ErrImagePull' : reason
  return { isImage, text: [word, lasting].filter(Boolean).join(': ') }
}

/** Since when the pod is as ready, or unready, as it is: epoch milliseconds. */
export function unchangedSince({ metadata, status }: Pod): number {
  return Date.parse(conditionOf(status, 'Ready')?.lastTransitionTime ?? metadata.creationTimestamp ?? '') || 0
}

const conditionOf = (status: Pod['status'], type: string) => status?.conditions?.find((condition) => condition.type === type)
