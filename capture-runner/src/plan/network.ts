import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import type { PrivateOptions } from '@tintype/crds/options/private'
import type { ParentProxy } from '../egress/policy.ts'

/** Network settings. May contain a proxy's password, so never log them. */
export interface NetworkPlan {
  /** The client's proxy, which the guard connects through. */
  proxy?: ParentProxy
  /** No network at all. */
  isOffline?: true
}

/** Builds the plan for the network. */
export function buildNetwork({ proxy, proxyBypass = [], offline }: EffectiveOptions, secrets: PrivateOptions = {}): NetworkPlan {
  return {
    ...(proxy === undefined ? {} : { proxy: { url: withCredentials(proxy, secrets), direct: proxyBypass, chosenBy: 'user' } }),
    ...(offline ? { isOffline: true } : {}),
  }
}

function withCredentials(proxy: string, { proxyUsername, proxyPassword = '' }: PrivateOptions): string {
  if (proxyUsername === undefined) return proxy
  return proxy.replace('://', `://${encodeURIComponent(proxyUsername)}:${encodeURIComponent(proxyPassword)}@`)
}
