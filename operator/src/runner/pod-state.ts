import type { Pod } from '@tintype/crds/client/kinds'
import { RUNNER_CONTAINER } from './pod.ts'

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
interface WaitingContainer {
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

// Finds out how a runner's pod ended, and whether the page is suspected. Pure.

/**
 * Cause of the end. The page is suspected of `outOfMemory`, `overuse`, `killed`, `exited` and `unknown`. `nodeLost` and `nodePressure` are
 * problems of the node. `drained`, `preempted` and `stopped` are requested: the pod returned its work.
 */
type EndCause =
  | 'outOfMemory'
  | 'overuse'
  | 'killed'
  | 'exited'
  | 'unknown'
  | 'nodeLost'
  | 'nodePressure'
  | 'drained'
  | 'preempted'
  | 'stopped'

/** The end of a pod; `text` is human-readable. */
export interface PodEnd {
  cause: EndCause
  text: string
}

/** Exit code of a process that was ended by SIGKILL (128 + 9). */
const KILLED = 137
/** Start of the kubelet's message when the node caused an eviction. The reason field is `Evicted` in both cases. */
const NODE_PRESSURE = /^The node (was low on|had condition)/

/** Reasons of the condition DisruptionTarget, as Kubernetes writes them. */
const DISRUPTIONS: Readonly<Record<string, PodEnd>> = {
  EvictionByEvictionAPI: { cause: 'drained', text: 'its node was drained' },
  PreemptionByScheduler: { cause: 'preempted', text: 'it was preempted by a pod of higher priority' },
  DeletionByTaintManager: { cause: 'nodeLost', text: 'its node was tainted or unreachable' },
  DeletionByPodGC: { cause: 'nodeLost', text: 'its node was removed' },
  TerminationByKubelet: { cause: 'nodePressure', text: 'its node ran out of resources or was shut down' },
}

const SUSPICIOUS: ReadonlySet<EndCause> = new Set(['outOfMemory', 'overuse', 'killed', 'exited', 'unknown'])
const ORDERLY: ReadonlySet<EndCause> = new Set(['drained', 'preempted', 'stopped'])

/** True when the page may have ended the pod. If two attempts end like this, the page is taken as the cause. */
export const isPageSuspected = ({ cause }: PodEnd): boolean => SUSPICIOUS.has(cause)

/** True when the end was requested. Captures in progress then do not count as an attempt. */
export const isOrderly = ({ cause }: PodEnd): boolean => ORDERLY.has(cause)

/** Returns how the pod ended or is about to end; undefined while it runs and no end is requested. */
export function endOf({ metadata, status }: Pod): PodEnd | undefined {
  const terminated = terminationOf(status)
  if (terminated?.reason === 'OOMKilled') return { cause: 'outOfMemory', text: 'out of memory (137)' }
  if (status?.reason === 'Evicted') return eviction(status.message)
  const disruption = status?.conditions?.find(({ type, status: state }) => type === 'DisruptionTarget' && state === 'True')
  const known = DISRUPTIONS[disruption?.reason ?? '']
  if (known) return known
  if (metadata.deletionTimestamp) return { cause: 'stopped', text: 'its pod was deleted' }
  if (terminated) return terminated.exitCode === KILLED ? KILL : { cause: 'exited', text: `exit code ${terminated.exitCode}` }
  if (status?.phase !== 'Failed' && status?.phase !== 'Succeeded') return undefined
  return { cause: 'exited', text: [status.reason, status.message].filter(Boolean).join(': ') || 'its pod failed' }
}

/** End of a pod that disappeared without a status. */
export const UNKNOWN_END: PodEnd = { cause: 'unknown', text: 'its pod no longer exists' }

const KILL: PodEnd = { cause: 'killed', text: 'killed (137): out of memory, or its liveness probe failed' }

function eviction(message = 'no reason given'): PodEnd {
  return { cause: NODE_PRESSURE.test(message) ? 'nodePressure' : 'overuse', text: `evicted: ${message.trim()}` }
}

/** Termination of the container; undefined while it runs or when it never ran. */
const terminationOf = (status: Pod['status']) => containerOf(status)?.state?.terminated

/** Status of the runner's container. */
const containerOf = (status: Pod['status']) => status?.containerStatuses?.find(({ name }) => name === RUNNER_CONTAINER)

const MAX_LOG_LINE = 300

/**
 * The log line that best explains why the process ended; undefined without output. For cluster administrators only: it is never shown to a
 * client.
 */
export function lastLogLineOf({ status }: Pod): string | undefined {
  const lines = (terminationOf(status)?.message ?? '').split('\n').map((line) => line.trim())
  const telling = lines.findLast((line) => /error/i.test(line)) ?? lines.findLast((line) => line !== '')
  return telling?.slice(0, MAX_LOG_LINE)
}
