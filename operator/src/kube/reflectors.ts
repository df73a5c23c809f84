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
import type { ObjectKey } from '@tintype/crds/client/kube-object'
import { type Lister, Store } from '@tintype/crds/client/lister'
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
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import { CLAIM_INDEX, claimedBy, PHASE_INDEX, POOL_INDEX, RUNNER_INDEX, RUNNING_INDEX, UID_INDEX } from '../runner/runners.ts'

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

/** Index of the caches of Screenshots, ScreenshotSchedules, Webhooks and ApiKeys by account. */
export const ACCOUNT_INDEX = 'account'

/** An Account from the informer cache, unless it was deleted: one with finalizers remains there, and its objects must not act any more. */
export function findAccount(key: ObjectKey, accounts: Pick<Lister<Account>, 'get'>): Account | undefined {
  const account = accounts.get(key)
  return account && isBeingDeleted(account) ? undefined : account
}

/** Enough for what objects of one kind repeat within a page of a list. */
const MAX_STRINGS = 4_096
/** Longer texts are rarely the same. */
const MAX_LENGTH = 256
/** The engine stores shorter strings of JSON only once. */
const MIN_LENGTH = 11

const recent = new Map<string, string>()

/**
 * Replaces the strings of a parsed object by equal ones of recent objects, so that each is in memory only once. Objects of one kind repeat
 * most of theirs, such as URLs, times and messages of conditions. Changes the object, which must be a tree.
 */
export function shareStrings<T extends object>(object: T): T {
  const fields = object as Record<string, unknown>
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    if (typeof value === 'string') fields[name] = share(value)
    else if (typeof value === 'object' && value !== null) shareStrings(value)
  }
  return object
}

function share(text: string): string {
  if (text.length < MIN_LENGTH || text.length > MAX_LENGTH) return text
  const known = recent.get(text)
  if (known !== undefined) return known
  if (recent.size === MAX_STRINGS) recent.clear()
  recent.set(text, text)
  return text
}
