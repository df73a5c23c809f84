import { createHash } from 'node:crypto'
import type { ScreenshotPolicy } from '@tintype/crds/kinds/capture-policy'
import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import type { PrivateOptions } from '@tintype/crds/options/private'
import type { ParentProxy } from '../egress/route.ts'

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

/** Which captures of the batch share responses. */
export interface HttpCachePlan {
  /** Identifies the batch and all option values: captures share only if all are equal. A hash, because options may be secret. */
  partition: string
}

interface Order {
  batchId: string | undefined
  /** Origin that receives the client's headers. It may differ among the pages of a batch. */
  signInOrigin: string | undefined
  /** A capture must not show what it could not request itself. */
  capturePolicy?: ScreenshotPolicy | undefined
}

/** Builds the plan for sharing responses. Includes every option, because any option may change the requests. */
export function buildHttpCache(
  options: EffectiveOptions,
  secrets: PrivateOptions | undefined,
  { batchId, signInOrigin, capturePolicy }: Order,
): HttpCachePlan | undefined {
  if (options.httpCache === 'off' || batchId === undefined) return undefined
  const parts = JSON.stringify([batchId, signInOrigin ?? null, capturePolicy ?? null, sortedEntries(options), sortedEntries(secrets ?? {})])
  return { partition: createHash('sha256').update(parts).digest('hex') }
}

const sortedEntries = (options: object) => Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1))
