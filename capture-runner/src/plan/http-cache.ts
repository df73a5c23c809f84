import { createHash } from 'node:crypto'
import type { EffectiveOptions } from '@tintype/crds/options/catalogue'
import type { PrivateOptions } from '@tintype/crds/options/private'

/** What a capture shares with others of its batch. */
export interface HttpCachePlan {
  /** Stands for the batch and for every option: two captures share nothing unless all are equal. A hash, because options may be secret. */
  partition: string
}

interface Order {
  batchId: string | undefined
  /** Origin that gets the client's headers, which differs among the pages of a batch. */
  signInOrigin: string | undefined
}

/** Works out which captures may share responses. Any option may change what is sent, so none is left out. */
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
