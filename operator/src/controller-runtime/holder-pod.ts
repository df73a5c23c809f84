/**
 * Lets a standby check whether the leader's process is alive, from the kubelet's status of its pod. The API server knows about a killed
 * process a second or two later, long before its lease expires.
 */
import { type Pod, pods } from '@tintype/crds/client/kinds'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import { Resource } from '@tintype/crds/client/resource'
import type { HolderQuestion, Liveness } from './leader-election.ts'

/** Annotation on the lease with the name of the holder pod. The identity of the lease is the uid of the pod. */
export const HOLDER_POD_ANNOTATION = 'tintype.dev/holder-pod'

const PROBE_TIMEOUT_MILLISECONDS = 2_000

/** Returns an `isHolderAlive` for holders that run in `container` of a pod in `namespace`. Needs permission to get pods. */
export function holderPodProbe({ http, namespace, container }: { http: KubeHttp; namespace?: string; container: string }) {
  const client = new Resource(http, pods, { namespace })
  return async (holder: HolderQuestion): Promise<Liveness> => {
    const name = holder.annotations[HOLDER_POD_ANNOTATION]
    if (!name) return 'unknown'
    const pod = await client.find(name, { timeoutMilliseconds: PROBE_TIMEOUT_MILLISECONDS, repeat: 'never' })
    return livenessOf(pod, holder, container)
  }
}

/**
 * `gone`: the pod does not exist, is another pod of that name or has ended, or its container is not running or was started after the last
 * renewal.
 * Both the start and the renewal use the clock of the holder's node. The start is truncated to whole seconds, so it errs toward `alive`.
 */
export function livenessOf(pod: Pod | undefined, { identity, renewTime }: HolderQuestion, container: string): Liveness {
  if (!pod || pod.metadata.uid !== identity) return 'gone'
  if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return 'gone'
  const state = pod.status?.containerStatuses?.find(({ name }) => name === container)?.state
  if (!state) return 'unknown'
  if (!state.running) return 'gone'
  const startedAt = Date.parse(state.running.startedAt ?? '')
  return startedAt > Date.parse(renewTime ?? '') ? 'gone' : 'alive'
}
