import { createHash } from 'node:crypto'
import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import type { PrivateOptions } from '@tintype/crds/options/private'

/** Which captures of the batch share responses. */
export interface HttpCachePlan {
  /** Identifies the batch and all option values: captures share only if all are equal. A hash, because options may be secret. */
  partition: string
}

interface Order {
  batchId: string | undefined
  /** Origin that receives the client's headers. It may differ among the pages of a batch. */
  signInOrigin: string | undefined
}

/** Builds the plan for sharing responses. Includes every option, because any option may change the requests. */
export function buildHttpCache(
  options: EffectiveOptions,
  secrets: PrivateOptions | undefined,
  { batchId, signInOrigin }: Order,
): { httpCache?: HttpCachePlan; warnings: string[] } {
  if (options.httpCache !== 'batch') return { warnings: [] }
  if (batchId === undefined) return { warnings: ['http_cache has no effect outside of a batch'] }
  const parts = JSON.stringify([batchId, signInOrigin ?? null, sortedEntries(options), sortedEntries(secrets ?? {})])
  return { httpCache: { partition: createHash('sha256').update(parts).digest('hex') }, warnings: [] }
}

const sortedEntries = (options: object) => Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1))
