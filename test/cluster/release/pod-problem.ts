/** Reads from pods what keeps one of them from running, in words. */
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

/** No waiting mends these. An image that cannot be pulled is one: here images come from this machine. */
const final = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
  'ErrImageNeverPull',
])

/** The kubelet has not yet read what a new pod mounts or takes its environment from; it asks again by itself. */
const notYetRead = /^failed to sync \w+ cache: timed out/

/** A program may fall over while what it needs comes up; one that does so again and again will not mend. */
const manyRestarts = 4

/** The first pod that will not come up by itself and why, or undefined. */
export function findTrouble(pods: readonly Pod[]): string | undefined {
  for (const { metadata, status } of pods) {
    if (metadata.deletionTimestamp !== undefined) continue
    for (const container of status.containerStatuses ?? []) {
      const trouble = troubleOf(container)
      if (trouble !== undefined) return `pod ${metadata.name}: ${trouble}`
    }
  }
  return undefined
}

/** True for a runner whose image is gone: a later start has removed it, and the operator is about to replace the runner. */
export const isOutdated = ({ metadata, status }: Pod): boolean =>
  metadata.labels?.[Label.pool] !== undefined &&
  (status.containerStatuses ?? []).some(({ state }) => state?.waiting?.reason === 'ErrImageNeverPull')

/** Names of pods that are said to run in containers that do not. */
export function staleOf(pods: readonly Pod[], running: ReadonlySet<string>): string[] {
  const isGone = ({ containerID }: ContainerStatus) => containerID !== undefined && !running.has(containerID.replace('containerd://', ''))
  const isStale = ({ metadata, status }: Pod) =>
    metadata.deletionTimestamp === undefined && status.phase === 'Running' && (status.containerStatuses ?? []).some(isGone)
  return pods.filter(isStale).map(({ metadata }) => `${metadata.name}, which restarts`)
}

function troubleOf({ restartCount, state, lastState }: ContainerStatus): string | undefined {
  const { reason, message } = state?.waiting ?? {}
  if (reason !== undefined && final.has(reason) && !notYetRead.test(message ?? ''))
    return `${reason}${message === undefined ? '' : `, ${message}`}`
  if (reason === 'CrashLoopBackOff' && restartCount >= manyRestarts) {
    return `ended ${restartCount} times, last with code ${lastState?.terminated?.exitCode ?? 'unknown'}`
  }
  return undefined
}
