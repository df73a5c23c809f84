/** Finds out from the status of pods why one of them does not run. */
import { Label } from '../../../crds/src/identifiers/names.ts'

interface ContainerStatus {
  name: string
  restartCount: number
  /** `containerd://<id>` */
  containerID?: string
  state?: { waiting?: { reason?: string; message?: string } }
  lastState?: { terminated?: { exitCode: number; reason?: string } }
}

export interface Pod {
  kind: 'Pod'
  metadata: { name: string; deletionTimestamp?: string; labels?: Record<string, string> }
  status: { phase?: string; containerStatuses?: ContainerStatus[] }
}

/** Reasons that do not go away by waiting. A failed pull is one, because images are loaded from this machine. */
const final = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
  'ErrImageNeverPull',
])

/** The kubelet has not yet read a ConfigMap or Secret of a new pod. It retries by itself. */
const notYetRead = /^failed to sync \w+ cache: timed out/

/** A program may crash while its dependencies start. After this many restarts it counts as broken. */
const manyRestarts = 4

/** The first pod that will not start by itself and the reason, or undefined. */
export function findPodProblem(pods: readonly Pod[]): string | undefined {
  for (const { metadata, status } of pods) {
    if (metadata.deletionTimestamp !== undefined) continue
    for (const container of status.containerStatuses ?? []) {
      const problem = problemOf(container)
      if (problem !== undefined) return `pod ${metadata.name}: ${problem}`
    }
  }
  return undefined
}

/** True for a runner whose image a later start has removed. The operator is about to replace the runner. */
export const isOutdated = ({ metadata, status }: Pod): boolean =>
  metadata.labels?.[Label.pool] !== undefined &&
  (status.containerStatuses ?? []).some(({ state }) => state?.waiting?.reason === 'ErrImageNeverPull')

/** Names of pods with status Running whose containers do not run. */
export function staleOf(pods: readonly Pod[], running: ReadonlySet<string>): string[] {
  const isGone = ({ containerID }: ContainerStatus) => containerID !== undefined && !running.has(containerID.replace('containerd://', ''))
  const isStale = ({ metadata, status }: Pod) =>
    metadata.deletionTimestamp === undefined && status.phase === 'Running' && (status.containerStatuses ?? []).some(isGone)
  return pods.filter(isStale).map(({ metadata }) => `${metadata.name}, which restarts`)
}

function problemOf({ restartCount, state, lastState }: ContainerStatus): string | undefined {
  const { reason, message } = state?.waiting ?? {}
  if (reason !== undefined && final.has(reason) && !notYetRead.test(message ?? ''))
    return `${reason}${message === undefined ? '' : `, ${message}`}`
  if (reason === 'CrashLoopBackOff' && restartCount >= manyRestarts) {
    return `restarted ${restartCount} times, last exit code ${lastState?.terminated?.exitCode ?? 'unknown'}`
  }
  return undefined
}
