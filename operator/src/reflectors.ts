import { type Pod, pods } from '@tintype/crds/client/core-resources'
import { runnerPools, screenshots, webhooks } from '@tintype/crds/client/kinds'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import { Store } from '@tintype/crds/client/lister'
import type { Log } from '@tintype/crds/client/log'
import { Reflector, type ReflectorMetrics } from '@tintype/crds/client/reflector'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { Label } from '@tintype/crds/names'
import type { Reflectors } from './deps.ts'
import { CLAIM_INDEX, claimedBy, PHASE_INDEX, POOL_INDEX, RUNNER_INDEX, UID_INDEX } from './pool/runners.ts'

/** Makes the local copies, with the indexes that the core reads. They begin when started. */
export function createReflectors(http: KubeHttp, { log, metrics }: { log: Log; metrics: ReflectorMetrics }): Reflectors {
  const common = { http, log, metrics }
  return {
    screenshots: new Reflector({
      ...common,
      resource: screenshots,
      store: new Store<Screenshot>()
        .addIndex(PHASE_INDEX, ({ status }) => status?.phase ?? 'Pending')
        .addIndex(CLAIM_INDEX, claimedBy)
        .addIndex(RUNNER_INDEX, ({ status }) => status?.runner?.uid),
    }),
    webhooks: new Reflector({ ...common, resource: webhooks }),
    pools: new Reflector({ ...common, resource: runnerPools }),
    pods: new Reflector({
      ...common,
      resource: pods,
      labelSelector: Label.pool,
      store: new Store<Pod>()
        .addIndex(POOL_INDEX, ({ metadata }) => metadata.labels?.[Label.pool])
        .addIndex(UID_INDEX, ({ metadata }) => metadata.uid),
    }),
  }
}
