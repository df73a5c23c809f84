import { unavailable } from '../common/errors.ts'
import { MAX_MARKUP_BODY_BYTES } from '../http/body.ts'

// Limits the bytes of request bodies that a process holds at a time. A body counts from before it is read until its objects are written. Its text, its
// values and what is encrypted of them need several times its bytes, so large bodies take turns after they have arrived.

/** Bodies up to this size may also use the reserve, so that large bodies of others never keep them out. */
const SMALL_BYTES = 65_536
/** Part of the budget that is reserved for small bodies. */
const RESERVED_PART = 1 / 8
/** Bytes of large bodies that are parsed and stored at a time, if they are several. */
const BUSY_BYTES = 8 * 2 ** 20
/** Bytes of large bodies after which garbage is collected. Without it, texts of earlier bodies are still in memory when the next ones are parsed. */
const COLLECT_BYTES = 4 * 2 ** 20
/** Default and minimum budget. One account may use half of what large bodies have, and sends a body of the largest size with it. */
export const MIN_BODY_BUDGET_BYTES = (2 * MAX_MARKUP_BODY_BYTES) / (1 - RESERVED_PART)
/** All requests without an API key together. Their bodies have at most 4 KiB. */
const ANONYMOUS_BYTES = 1_048_576
/** Owner of bodies of requests without an API key. Not the name of an account. */
const ANONYMOUS = ''

const RETRY_SECONDS = '2'

/** `total`: all bodies together. `account`: the bodies of one account, or of all requests without an API key. */
export const EXCEEDED_LIMITS = ['total', 'account'] as const
export type ExceededLimit = (typeof EXCEEDED_LIMITS)[number]

interface BudgetOptions {
  maxBytes: number
  onRefuse: (limit: ExceededLimit) => void
  /** Collects garbage at once. */
  collectGarbage?: (() => void) | undefined
}

/** Bytes of one body in the budget. */
export interface BodyLease {
  /** Raises the counted bytes to `bytes`. @throws ApiError SERVICE_UNAVAILABLE */
  cover: (bytes: number) => void
  /** Resolves when the body may be parsed and stored. Small bodies never wait. */
  turn: () => Promise<void>
  /** Can be called more than once. */
  release: () => void
}

/** Counts the bytes of bodies of a process, by account. */
export class BodyBudget {
  readonly #options: BudgetOptions
  readonly #byOwner = new Map<string, number>()
  readonly #waiting: { bytes: number; start: () => void }[] = []
  #bytes = 0
  /** Bytes of the large bodies that are parsed and stored now. */
  #busyBytes = 0
  #uncollectedBytes = 0

  constructor(options: BudgetOptions) {
    this.#options = options
  }

  /** Bytes that bodies use now. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Takes the bytes of a body.
   * @param account empty for requests without an API key
   * @throws ApiError SERVICE_UNAVAILABLE
   */
  take(account: string, bytes: number): BodyLease {
    let taken = 0
    let busy = 0
    const cover = (wanted: number): void => {
      if (wanted <= taken) return
      this.#add(account, wanted - taken, wanted)
      taken = wanted
    }
    cover(bytes)
    return {
      cover,
      turn: async () => {
        if (taken <= SMALL_BYTES) return
        busy = taken
        await this.#start(busy)
      },
      release: () => {
        this.#subtract(account, taken)
        this.#finish(busy)
        taken = 0
        busy = 0
      },
    }
  }

  #add(owner: string, more: number, size: number): void {
    const owned = (this.#byOwner.get(owner) ?? 0) + more
    const exceeded = this.#findExceeded(owner, owned, more, size)
    if (exceeded) {
      this.#options.onRefuse(exceeded)
      throw refusal(exceeded)
    }
    this.#byOwner.set(owner, owned)
    this.#bytes += more
  }

  #findExceeded(owner: string, owned: number, more: number, size: number): ExceededLimit | undefined {
    const { maxBytes } = this.#options
    const forLarge = maxBytes * (1 - RESERVED_PART)
    if (owned > (owner === ANONYMOUS ? ANONYMOUS_BYTES : forLarge / 2)) return 'account'
    return this.#bytes + more > (size > SMALL_BYTES ? forLarge : maxBytes) ? 'total' : undefined
  }

  async #start(bytes: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ bytes, start: resolve })
    this.#startNext()
    await promise
    this.#collect(bytes)
  }

  #collect(bytes: number): void {
    if (this.#uncollectedBytes >= COLLECT_BYTES) {
      this.#options.collectGarbage?.()
      this.#uncollectedBytes = 0
    }
    this.#uncollectedBytes += bytes
  }

  #finish(bytes: number): void {
    this.#busyBytes -= bytes
    if (bytes > 0) this.#startNext()
  }

  /** Starts bodies in the order in which they arrived: as many as have few bytes together, or one. */
  #startNext(): void {
    for (
      let next = this.#waiting[0];
      next && (this.#busyBytes === 0 || this.#busyBytes + next.bytes <= BUSY_BYTES);
      next = this.#waiting[0]
    ) {
      this.#waiting.shift()
      this.#busyBytes += next.bytes
      next.start()
    }
  }

  #subtract(owner: string, bytes: number): void {
    const left = (this.#byOwner.get(owner) ?? 0) - bytes
    // Accounts without a body need no entry.
    if (left > 0) this.#byOwner.set(owner, left)
    else this.#byOwner.delete(owner)
    this.#bytes -= bytes
  }
}

const MESSAGES: Readonly<Record<ExceededLimit, string>> = {
  total: 'this replica holds as many bytes of request bodies as it can',
  account: 'requests of this account have as many bytes of bodies in progress as one account can have',
}

const refusal = (exceeded: ExceededLimit) =>
  unavailable(`${MESSAGES[exceeded]}: retry in ${RETRY_SECONDS} seconds, or send fewer large bodies at a time`)
