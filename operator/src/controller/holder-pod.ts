/**
 * Tells a standby whether the leader's process still lives, from what the kubelet says about its pod. A killed process is known to the API
 * server a second or two later, long before its lease expires.
 */
import { type Pod, pods } from '@tintype/crds/client/core-resources'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import { Resource } from '@tintype/crds/client/resource'
import type { HolderQuestion, Liveness } from './leader-election.ts'

/** The annotation by which a holder names its pod on the lease; the lease's identity is the pod's uid. */
export const HOLDER_POD_ANNOTATION = 'tintype.dev/holder-pod'

const PROBE_TIMEOUT_MILLISECONDS = 2_000

/** An `isHolderAlive` for holders that are pods of `namespace`, with their process in `container`. Needs: get pods. */
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
 * Gone: no such pod, another pod of that name, a pod that has ended, or whose container is not running or was started after the last renewal.
 * The start and the renewal are both told by the clock of the holder's node; the start is cut to whole seconds, so it errs towards `alive`.
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
