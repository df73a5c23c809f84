import { LRUCache } from 'lru-cache'
import { isUsable, type SharedRequest, type StoredResponse } from './policy.ts'

// Shares responses among captures of one batch, in the runner's memory. The cache belongs to one account at a time and is cleared for the next one.

/** The part of the cache that one capture may use. */
export interface BatchCache {
  /** A fresh response to the request; undefined: it must be requested. */
  find: (key: string, request: SharedRequest) => StoredResponse | undefined
  keep: (key: string, response: StoredResponse) => void
}

/** Size limits of all responses, and of one. */
const MAX_BYTES = 64 * 1024 * 1024
export const MAX_RESPONSE_BYTES = 4 * 1024 * 1024
/** Approximate memory of a response besides its body. */
const OVERHEAD_BYTES = 2_048
/** Age at which a response is dropped, even if it is still fresh. */
const MAX_AGE_MILLISECONDS = 10 * 60_000

/** Limits for tests. */
export interface HttpCacheOptions {
  maxBytes?: number
  maxAgeMilliseconds?: number
}

/** The cache of one runner. */
export class HttpCache {
  readonly #options: HttpCacheOptions
  #current: { account: string; responses: LRUCache<string, StoredResponse> } | undefined

  constructor(options: HttpCacheOptions = {}) {
    this.#options = options
  }

  /**
   * Opens the cache for a capture. Clears it if it belongs to another account.
   * @param partition identifies the batch and everything that affects its requests; absent: the capture shares nothing
   */
  open(account: string, partition?: string): BatchCache | undefined {
    if (this.#current?.account !== account) this.#replace(account)
    const held = this.#current
    if (!held || partition === undefined) return undefined
    const { responses } = held
    const toKey = (key: string) => `${partition} ${key}`
    return {
      find: (key, request) => {
        const found = responses.get(toKey(key))
        return found && isUsable(found, request) ? found : undefined
      },
      keep: (key, response) => {
        // A capture of the previous account may still be running.
        if (this.#current === held) responses.set(toKey(key), response)
      },
    }
  }

  /** Size of the cached responses. */
  get bytes(): number {
    return this.#current?.responses.calculatedSize ?? 0
  }

  #replace(account: string): void {
    this.#current?.responses.clear()
    const { maxBytes = MAX_BYTES, maxAgeMilliseconds = MAX_AGE_MILLISECONDS } = this.#options
    const responses = new LRUCache<string, StoredResponse>({
      maxSize: maxBytes,
      maxEntrySize: MAX_RESPONSE_BYTES + OVERHEAD_BYTES,
      sizeCalculation: ({ body }) => body.length + OVERHEAD_BYTES,
      ttl: maxAgeMilliseconds,
      // Frees the memory of an idle runner.
      ttlAutopurge: true,
    })
    this.#current = { account, responses }
  }
}
