import type { EffectiveOptions } from '@tintype/crds/options/catalogue'
import type { PrivateOptions } from '@tintype/crds/options/private'
import type { ParentProxy } from '../egress/policy.ts'

/** The way to the page. Secret where it holds a proxy's password. */
export interface NetworkPlan {
  /** The client's own proxy, which the guard goes through. */
  proxy?: ParentProxy
  /** Nothing is reached at all. */
  isOffline?: true
}

/** Works out the way. */
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
