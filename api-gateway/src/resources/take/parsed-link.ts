import type { KeyRing } from '@tintype/crds/crypto/signatures'
import { LRUCache } from 'lru-cache'
import { cacheHash, type PictureRequest as HashedPicture } from '../../cache/cache-hash.ts'
import type { LinkQuery } from './link-query.ts'
import type { PictureRequest } from './picture-request.ts'

// Parsing and validation cost most of the time of a response from memory, and depend on the query only. Everything that depends on the key, its account
// or the time is checked for each request.

const MAX_LINKS = 1_000
/** Limit of all queries together, in characters. */
const MAX_LENGTH = 1_000_000

/** A query that was parsed and validated. */
export class ParsedLink {
  readonly query: LinkQuery
  readonly wanted: PictureRequest
  #hash: { of: string; ring: KeyRing; value: string } | undefined

  constructor(query: LinkQuery, wanted: PictureRequest) {
    this.query = query
    this.wanted = wanted
  }

  /** The cache hash of the picture for an account, and for the hosts to which the key limits its captures. */
  hashFor({ account, policy }: Pick<HashedPicture, 'account' | 'policy'>, ring: KeyRing): string {
    const of = policy ? JSON.stringify([account, policy]) : account
    if (this.#hash?.of === of && this.#hash.ring === ring) return this.#hash.value
    const { url, options, cache } = this.wanted
    const value = cacheHash({ account, url, options, cacheKey: cache.cacheKey, policy }, ring)
    this.#hash = { of, ring, value }
    return value
  }
}

/** Valid queries of recent requests, by their text. */
export class ParsedLinks {
  readonly #links = new LRUCache<string, ParsedLink>({ max: MAX_LINKS, maxSize: MAX_LENGTH })

  get(text: string): ParsedLink | undefined {
    return this.#links.get(text)
  }

  /** Call only for authenticated requests, so that nobody else can fill this memory. */
  add(text: string, link: ParsedLink): void {
    this.#links.set(text, link, { size: Math.max(1, text.length) })
  }
}
