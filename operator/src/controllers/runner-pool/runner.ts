// rbac: authentication.k8s.io/tokenreviews create

/**
 * This controller observes runner pods. It identifies each ready pod once per term: the pod proves its identity with a token and reports its
 * browser, its sandbox and its key. It writes only to the leader's memory, then wakes the dispatcher and enqueues what waits for the pod.
 */

import type { Pod } from '@tintype/crds/client/kinds'
import { API_VERSION, Label } from '@tintype/crds/identifiers/names'
import type { Requeue } from '../../controller-runtime/controller.ts'
import type { PoolReason } from '../../kube/condition-reasons.ts'
import { identify } from '../../runner/identity.ts'
import { addressOf, type Runner } from '../../runner/runners.ts'
import type { PoolContext } from './context.ts'

/** Reconciles one runner pod: a ready pod is identified once per term. @param enqueuePool reconciles a pool with a new runner */
export async function reconcileRunner(key: string, context: PoolContext, enqueuePool: (pool: string) => void): Promise<Requeue> {
  const { runners, dispatcher, memories, metrics, now } = context
  const runner = runners.find(key, now().getTime())
  if (!runner) return {}
  const pool = runner.pod.metadata.labels?.[Label.pool] ?? ''
  if (runner.state === 'ready' && runner.sandbox === undefined && isOwned(runner.pod, pool, context)) {
    const { serviceAccountName = '' } = runner.pod.spec ?? {}
    const identity = await identify(context.client, context.clients.tokenReviews, {
      ...addressOf(runner.pod),
      namespace: context.config.namespace,
      serviceAccountName,
    })
    runners.noteIdentity(runner.uid, identity, now().getTime())
    const memory = memories.get(pool)
    if (memory) memory.failedStarts = 0
    warnOfClockSkew(runner, pool, context)
    metrics.startupSeconds.observe((now().getTime() - Date.parse(runner.pod.metadata.creationTimestamp ?? '')) / 1_000)
    enqueuePool(pool)
    context.onIdentified(runner.uid)
  }
  dispatcher.wake(pool)
  return {}
}

/** Clock differences below this are normal. */
const MAX_SKEW_MILLISECONDS = 30_000

/** Captures use the runner's clock and continue. But records, logs and signatures of other programs then mix times of two clocks. */
function warnOfClockSkew(runner: Runner, pool: string, { client, events, reflectors, config }: PoolContext): void {
  const ahead = client.clockAheadMilliseconds(runner)
  const object = reflectors.pools.lister.get(`${config.namespace}/${pool}`)
  if (!object || Math.abs(ahead) < MAX_SKEW_MILLISECONDS) return
  const difference = `${Math.round(Math.abs(ahead) / 1_000)} s ${ahead > 0 ? 'ahead of' : 'behind'}`
  const message = `the clock of node ${runner.pod.spec?.nodeName} is ${difference} the operator’s. Synchronize both clocks with NTP.`
  events.warn({ ...object, apiVersion: API_VERSION, kind: 'RunnerPool' }, 'ClockSkewed' satisfies PoolReason, message)
}

function isOwned({ metadata }: Pod, pool: string, { reflectors, config }: PoolContext): boolean {
  const uid = reflectors.pools.lister.get(`${config.namespace}/${pool}`)?.metadata.uid
  return uid !== undefined && (metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false)
}
