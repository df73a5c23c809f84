import { toCached } from '@tintype/crds/client/cached-form'
import {
  accounts,
  accountUsages,
  apiKeys,
  type Lease,
  leases,
  type Pod,
  pods,
  runnerPools,
  screenshotSchedules,
  screenshots,
  webhooks,
} from '@tintype/crds/client/kinds'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import { Store } from '@tintype/crds/client/lister'
import type { Log } from '@tintype/crds/client/log'
import { Reflector, type ReflectorMetrics } from '@tintype/crds/client/reflector'
import { GATEWAY_LEASE_LABELS, Label } from '@tintype/crds/identifiers/names'
import type { Account, AccountUsage } from '@tintype/crds/kinds/account'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { ScreenshotSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { CLAIM_INDEX, claimedBy, PHASE_INDEX, POOL_INDEX, RUNNER_INDEX, RUNNING_INDEX, UID_INDEX } from '../runner/runners.ts'
import { shareStrings } from './share-strings.ts'

/** The informer caches that all parts read. They also run on standby replicas, so that they are synced at a takeover. */
export interface Reflectors {
  screenshots: Reflector<Screenshot>
  schedules: Reflector<ScreenshotSchedule>
  webhooks: Reflector<Webhook>
  pools: Reflector<RunnerPool>
  /** The pods of RunnerPools only. */
  pods: Reflector<Pod>
  accounts: Reflector<Account>
  apiKeys: Reflector<ApiKey>
  usages: Reflector<AccountUsage>
  /** Leases by which gateways show that they are alive. */
  gatewayLeases: Reflector<Lease>
}

const toSelector = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')

/** Creates the informer caches with the indexes that scheduling and the capture controllers read. They must be started. */
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
    // Schedules stay for years, and there may be ten thousand. Screenshots leave the cache after an hour.
    schedules: new Reflector({
      ...common,
      resource: screenshotSchedules,
      transform: (schedule) => shareStrings(toCached(schedule)),
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
