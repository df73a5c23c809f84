import type { Pod } from '@tintype/crds/client/core-resources'
import { RUNNER_CONTAINER } from './pod.ts'

// How a runner's pod came to its end, and whom that speaks against. Pure.

/**
 * What ended it. The page is suspected of `outOfMemory`, `overuse`, `killed`, `exited` and `unknown`; `nodeLost` and `nodePressure` befell it;
 * `drained`, `preempted` and `stopped` were asked for, and its work was given back.
 */
export type EndCause =
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

/** The end of a pod; `text` is for a person. */
export interface PodEnd {
  cause: EndCause
  text: string
}

/** Exit code of a process that was ended by SIGKILL (128 + 9). */
const KILLED = 137
/** How the kubelet's message begins when the node, not the pod, was the reason of an eviction: its reason field is `Evicted` for both. */
const NODE_PRESSURE = /^The node (was low on|had condition)/

/** Reasons of the condition DisruptionTarget, as Kubernetes writes them. */
const DISRUPTIONS: Readonly<Record<string, PodEnd>> = {
  EvictionByEvictionAPI: { cause: 'drained', text: 'its node was drained' },
  PreemptionByScheduler: { cause: 'preempted', text: 'a pod of higher priority took its place' },
  DeletionByTaintManager: { cause: 'nodeLost', text: 'its node was tainted or did not answer' },
  DeletionByPodGC: { cause: 'nodeLost', text: 'its node is gone' },
  TerminationByKubelet: { cause: 'nodePressure', text: 'its node ran short of resources or was shut down' },
}

const SUSPICIOUS: ReadonlySet<EndCause> = new Set(['outOfMemory', 'overuse', 'killed', 'exited', 'unknown'])
const ORDERLY: ReadonlySet<EndCause> = new Set(['drained', 'preempted', 'stopped'])

/** True when the page may be what ended the pod: twice, and it is taken to be. */
export const isPageSuspected = ({ cause }: PodEnd): boolean => SUSPICIOUS.has(cause)

/** True when the pod was asked to go: what it had begun is no attempt of the page's. */
export const isOrderly = ({ cause }: PodEnd): boolean => ORDERLY.has(cause)

/** How the pod ended, or is about to; undefined while it runs and nobody has asked it to go. */
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

/** What is known of a pod that is gone without a trace. */
export const UNKNOWN_END: PodEnd = { cause: 'unknown', text: 'its pod is gone' }

const KILL: PodEnd = { cause: 'killed', text: 'killed (137): out of memory, or it no longer answered its probe' }

function eviction(message = 'no reason given'): PodEnd {
  return { cause: NODE_PRESSURE.test(message) ? 'nodePressure' : 'overuse', text: `evicted: ${message.trim()}` }
}

/** The end of the process in the pod; undefined while it runs, or when there never was one. */
export const terminationOf = (status: Pod['status']) => containerOf(status)?.state?.terminated

/** What the kubelet says of the runner's container. */
export const containerOf = (status: Pod['status']) => status?.containerStatuses?.find(({ name }) => name === RUNNER_CONTAINER)

const MAX_LOG_LINE = 300

/**
 * The line of its log that says most of why the process ended; undefined when it said nothing. For those who run the cluster: it is never shown
 * to a client.
 */
export function lastLogLineOf({ status }: Pod): string | undefined {
  const lines = (terminationOf(status)?.message ?? '').split('\n').map((line) => line.trim())
  const telling = lines.findLast((line) => /error/i.test(line)) ?? lines.findLast((line) => line !== '')
  return telling?.slice(0, MAX_LOG_LINE)
}
