import { leases, type Pod, pods } from '@tintype/crds/client/core-resources'
import { accounts, accountUsages, apiKeys, runnerPools, screenshots, webhooks } from '@tintype/crds/client/kinds'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import { Store } from '@tintype/crds/client/lister'
import type { Log } from '@tintype/crds/client/log'
import { Reflector, type ReflectorMetrics } from '@tintype/crds/client/reflector'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { GATEWAY_LEASE_LABELS, Label } from '@tintype/crds/names'
import { accountOf } from '@tintype/crds/record'
import type { Reflectors } from './deps.ts'
import { CLAIM_INDEX, claimedBy, PHASE_INDEX, POOL_INDEX, RUNNER_INDEX, RUNNING_INDEX, UID_INDEX } from './runner/runners.ts'

const toSelector = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')

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
        .addIndex(RUNNER_INDEX, ({ status }) => status?.runner?.uid)
        .addIndex(RUNNING_INDEX, (shot) => (shot.status?.phase === 'Running' ? accountOf(shot) : undefined)),
    }),
    webhooks: new Reflector({ ...common, resource: webhooks }),
    pools: new Reflector({ ...common, resource: runnerPools }),
    accounts: new Reflector({ ...common, resource: accounts }),
    apiKeys: new Reflector({ ...common, resource: apiKeys }),
    usages: new Reflector({ ...common, resource: accountUsages }),
    gatewayLeases: new Reflector({ ...common, resource: leases, labelSelector: toSelector(GATEWAY_LEASE_LABELS) }),
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
