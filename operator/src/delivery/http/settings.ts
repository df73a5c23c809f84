import type { EgressRules } from '@tintype/crds/addresses/address-rules'

/** What the chart's values say about webhooks. */
export interface DeliverySettings {
  /** Wall clock of one post. */
  timeoutMilliseconds: number
  /** Delays before the second and the third attempt. */
  retryDelaysMilliseconds: readonly number[]
  /** Private ranges that webhooks may mean. */
  allowedCidrs: readonly string[]
  /** Names, or `*.suffix`, that webhooks may mean even if they resolve to private addresses. */
  allowedHosts: readonly string[]
  /** Forward proxy that posts leave by (HTTP CONNECT); absent: none. */
  proxyUrl?: string | undefined
  /** Days of nothing but failures after which an endpoint is switched off; absent: never. */
  disableAfterDays?: number | undefined
}

/** Where posts may go: public addresses, and what the settings open. */
export const toRules = ({ allowedCidrs, allowedHosts }: DeliverySettings): EgressRules => ({
  allowedCidrs,
  allowedHosts,
  deniedCidrs: [],
  allowedPorts: [],
})
