import type { EgressRules } from '@tintype/crds/addresses/address-rules'

/** Settings of webhooks from the chart's values. */
export interface DeliverySettings {
  /** Time limit of one post. */
  timeoutMilliseconds: number
  /** Delays before the second and the third attempt. */
  retryDelaysMilliseconds: readonly number[]
  /** Private IP ranges that webhooks may use. */
  allowedCidrs: readonly string[]
  /** Host names, or `*.suffix`, that webhooks may use even if they resolve to private addresses. */
  allowedHosts: readonly string[]
  /** Posts of one account that run at the same time; absent: as many as of all accounts. */
  maxPostsPerAccount?: number | undefined
  /** Forward proxy for posts (HTTP CONNECT); absent: none. */
  proxyUrl?: string | undefined
  /** Days of uninterrupted failures after which an endpoint is disabled; absent: never. */
  disableAfterDays?: number | undefined
}

/** Egress rules for posts: public addresses, and those that the settings allow. */
export const toRules = ({ allowedCidrs, allowedHosts }: DeliverySettings): EgressRules => ({
  allowedCidrs,
  allowedHosts,
  deniedCidrs: [],
  allowedPorts: [],
})
