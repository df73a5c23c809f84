import type { TermDeps } from '../../runtime/deps.ts'
import type { Charges } from './charges.ts'
import type { GatewayLiveness } from './gateway-liveness.ts'
import type { QuotaMetrics } from './metrics.ts'
import type { RecentNames } from './recent-names.ts'

/** Index of live Screenshots that await a refund, by account. */
export const REFUND_INDEX = 'quota-refund'

/** What the standby keeps too. */
export interface QuotaParts {
  liveness: GatewayLiveness
  recentNames: RecentNames
  charges: Charges
  metrics: QuotaMetrics
}

/** Dependencies of the account usage controller during one term. */
export interface QuotaContext extends TermDeps, QuotaParts {}
