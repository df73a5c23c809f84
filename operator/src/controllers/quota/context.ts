import type { Lease } from '@tintype/crds/client/core-resources'
import type { Log } from '@tintype/crds/client/log'
import type { Resource } from '@tintype/crds/client/resource'
import type { AccountUsage } from '@tintype/crds/kinds/account-usage'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import type { Plans } from '@tintype/crds/usage/plans'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { Reflectors } from '../../kube/reflectors.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Charges } from './charges.ts'
import type { GatewayLiveness } from './gateway-liveness.ts'
import type { QuotaMetrics } from './metrics.ts'
import type { RecentNames } from './recent-names.ts'

/** Index of live Screenshots that await a refund, by account. */
export const REFUND_INDEX = 'quota-refund'

/** Dependencies of the account usage controller during one term. */
export interface QuotaContext {
  reflectors: Pick<Reflectors, 'accounts' | 'usages' | 'screenshots'>
  usages: Resource<AccountUsage>
  leases: Pick<Resource<Lease>, 'find' | 'delete'>
  screenshots: Pick<Resource<Screenshot>, 'find' | 'patch'>
  storage: Pick<Storage, 'exists' | 'list' | 'readText'>
  /** Reports objects in the bucket that are ignored. */
  report: ReportIgnored
  plans: Plans
  liveness: GatewayLiveness
  recentNames: RecentNames
  charges: Charges
  events: EventRecorder
  metrics: QuotaMetrics
  log: Log
  now: () => Date
}
