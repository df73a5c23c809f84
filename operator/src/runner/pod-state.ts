import type { Pod } from '@tintype/crds/client/kinds'
import { containerOf, terminationOf } from './pod-end.ts'

/**
 * State of a runner's pod. `ready`: it responds. `waiting`: not ready yet, or not ready now. `terminating`: its deletion is requested.
 * `ended`: its process has ended.
 */
export type PodState = 'waiting' | 'ready' | 'terminating' | 'ended'

/** Derives the state of a pod from its status. */
export function podState({ metadata, status }: Pod): PodState {
  if (terminationOf(status)) return 'ended'
  if (metadata.deletionTimestamp) return 'terminating'
  // A pod that was evicted or rejected by the kubelet may never have had a container.
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return 'ended'
  return conditionOf(status, 'Ready')?.status === 'True' && status?.podIP ? 'ready' : 'waiting'
}

/** The scheduler's message why no node can run the pod. */
export function unschedulableReason({ status }: Pod): string | undefined {
  const scheduled = conditionOf(status, 'PodScheduled')
  return scheduled?.status === 'False' && scheduled.reason === 'Unschedulable' ? (scheduled.message ?? 'no node fits') : undefined
}

/** Why the container does not start, as the kubelet reports it. */
export interface WaitingContainer {
  /** The image cannot be pulled. */
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

/** Undefined for a container that runs or is being created. */
export function waitingReason({ status }: Pod): WaitingContainer | undefined {
  const waiting = containerOf(status)?.state?.waiting
  if (waiting?.reason === undefined || waiting.reason === 'ContainerCreating' || waiting.reason === 'PodInitializing') return undefined
  const { reason, message } = waiting
  const isImage = IMAGE_REASONS.has(reason)
  // The kubelet alternates between ErrImagePull and ImagePullBackOff. Only the registry's message stays the same.
  const lasting = isImage ? message?.replace(/^.*ErrImagePull: /s, '') : message
  const word = reason === 'ImagePullBackOff' ? 'ErrImagePull' : reason
  return { isImage, text: [word, lasting].filter(Boolean).join(': ') }
}

/** Time of the last change of the condition Ready, in epoch milliseconds. */
export function unchangedSince({ metadata, status }: Pod): number {
  return Date.parse(conditionOf(status, 'Ready')?.lastTransitionTime ?? metadata.creationTimestamp ?? '') || 0
}

const conditionOf = (status: Pod['status'], type: string) => status?.conditions?.find((condition) => condition.type === type)
