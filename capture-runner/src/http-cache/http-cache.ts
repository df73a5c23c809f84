import { LRUCache } from 'lru-cache'
import { isUsable, type SharedRequest, type StoredResponse } from './policy.ts'

// Responses that captures of one batch share, in the runner's memory. They belong to one account at a time: the next account finds nothing.

/** The part of the cache that one capture may use. */
export interface BatchCache {
  /** A fresh response to the request; undefined: it has to be asked for. */
  find: (key: string, request: SharedRequest) => StoredResponse | undefined
  keep: (key: string, response: StoredResponse) => void
}

/** Bytes of all responses, and of one. */
const MAX_BYTES = 64 * 1024 * 1024
export const MAX_RESPONSE_BYTES = 4 * 1024 * 1024
/** Bytes that a response takes besides its body, roughly. */
const OVERHEAD_BYTES = 2_048
/** Milliseconds after which a response is dropped, however long it would be fresh. */
const MAX_AGE_MILLISECONDS = 10 * 60_000

/** Limits where a test wants others. */
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
   * Begins a capture. Drops what is held for another account.
   * @param partition stands for the batch and for all that changes its requests; absent: the capture shares nothing
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
        // A capture of the account before may still be on its way.
        if (this.#current === held) responses.set(toKey(key), response)
      },
    }
  }

  /** Bytes that are held. */
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
      // An idle runner gives the memory back.
      ttlAutopurge: true,
    })
    this.#current = { account, responses }
  }
}
