import { type ApiError, unavailable } from '../common/errors.ts'
import { MAX_MARKUP_BODY_BYTES } from '../http/body.ts'

// Limits the bytes of request bodies that a process holds at a time. What has arrived of a body counts until its objects are written. When bytes run
// short, the slowest body ends of the account that sends several and has the most bytes, or of all if each sends one. So the fastest one always arrives. Its text, its values and what is encrypted of them need
// several times its bytes, so large bodies take turns after they have arrived.

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

/** Time after which bytes count half for how fast a body arrives. */
const HALF_MILLISECONDS = 1_000

const RETRY_SECONDS = '2'

/** `total`: all bodies together. `account`: the bodies of one account, or of all requests without an API key. */
export const EXCEEDED_LIMITS = ['total', 'account'] as const
export type ExceededLimit = (typeof EXCEEDED_LIMITS)[number]

interface BudgetOptions {
  maxBytes: number
  onRefuse: (limit: ExceededLimit) => void
  /** Collects garbage at once. */
  collectGarbage?: (() => void) | undefined
  /** Milliseconds of a clock that never jumps. */
  now?: () => number
}

/** A body in the budget. */
interface Body {
  owner: string
  /** Counted bytes. */
  bytes: number
  /** Bytes that arrived until `at`. Each second, earlier ones count half. */
  recentBytes: number
  at: number
  /** Time of the first byte. */
  since: number
  end: (error: ApiError) => void
}

/** Bytes of one body in the budget. */
export interface BodyLease {
  /** Notes bytes that have arrived: how many, and how fast, decides which body ends when bytes run short. */
  note: (bytes: number) => void
  /** Raises the counted bytes to `bytes`. May end slower bodies. @throws ApiError SERVICE_UNAVAILABLE */
  cover: (bytes: number) => void
  /** Sets what is called if the body must end in favor of others. It has no bytes in the budget then. */
  onEnd: (end: (error: ApiError) => void) => void
  /** Resolves when the body may be parsed and stored. Small bodies never wait. */
  turn: () => Promise<void>
  /** Lets other large bodies be parsed and stored while this one waits for something. Its bytes still count. */
  endTurn: () => void
  /** Can be called more than once. */
  release: () => void
}

const halved = (milliseconds: number): number => 2 ** (-milliseconds / HALF_MILLISECONDS)

/** How fast a body arrives, above all in the last seconds. Without a minimum age, infinite for one whose only chunk has just arrived. */
const rateOf = ({ recentBytes, at, since }: Body, now: number, minimumAge: number): number =>
  (recentBytes * halved(now - at)) / (1 - halved(Math.max(now - since, minimumAge)))

/** Counts the bytes of bodies of a process, by account. */
export class BodyBudget {
  readonly #options: BudgetOptions
  readonly #byOwner = new Map<string, number>()
  /** Bodies that have not arrived as a whole. */
  readonly #arriving = new Set<Body>()
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
   * Begins to count a body.
   * @param account empty for requests without an API key
   */
  take(account: string): BodyLease {
    const body: Body = { owner: account, bytes: 0, recentBytes: 0, at: 0, since: 0, end: () => {} }
    let busy = 0
    const endTurn = () => {
      this.#finish(busy)
      busy = 0
    }
    this.#arriving.add(body)
    return {
      note: (bytes) => {
        const now = this.#now()
        if (body.recentBytes === 0) body.since = now
        body.recentBytes = body.recentBytes * halved(now - body.at) + bytes
        body.at = now
      },
      cover: (bytes) => {
        if (bytes > body.bytes) this.#grow(body, bytes)
      },
      onEnd: (end) => (body.end = end),
      turn: async () => {
        this.#arriving.delete(body)
        if (body.bytes <= SMALL_BYTES) return
        busy = body.bytes
        await this.#start(busy)
      },
      endTurn,
      release: () => {
        this.#drop(body)
        endTurn()
      },
    }
  }

  #now(): number {
    return this.#options.now?.() ?? performance.now()
  }

  /** Counts the larger size of a body. Without room, the slowest body ends, of the same owner, or of the owner that crowds out others: the rest goes on instead of waiting. */
  #grow(body: Body, size: number): void {
    const more = size - body.bytes
    for (let exceeded = this.#findExceeded(body.owner, more, size); exceeded; exceeded = this.#findExceeded(body.owner, more, size)) {
      this.#options.onRefuse(exceeded)
      const slowest = this.#findSlowest(body, size, exceeded)
      if (slowest === body) throw refusal(exceeded)
      this.#drop(slowest)
      slowest.end(refusal(exceeded))
    }
    body.bytes = size
    this.#byOwner.set(body.owner, (this.#byOwner.get(body.owner) ?? 0) + more)
    this.#bytes += more
  }

  #findSlowest(wanting: Body, size: number, exceeded: ExceededLimit): Body {
    const now = this.#now()
    // A new body of others goes first. One of the same account does not end what the account sends already, unless that is slow.
    const minimumAge = exceeded === 'account' && wanting.owner !== ANONYMOUS ? HALF_MILLISECONDS : 0
    const others = [...this.#arriving].filter(({ owner, bytes }) =>
      exceeded === 'total' ? bytes > (size > SMALL_BYTES ? SMALL_BYTES : 0) : bytes > 0 && owner === wanting.owner,
    )
    const candidates = new Set(others).add(wanting)
    const crowding = this.#findCrowding(candidates)
    const isOf = ({ owner }: Body): boolean => crowding === undefined || owner === crowding
    return [...candidates]
      .filter(isOf)
      .reduce((slowest, body) => (rateOf(body, now, minimumAge) < rateOf(slowest, now, minimumAge) ? body : slowest))
  }

  /** Of the accounts that send several of these bodies, the one with the most bytes. Undefined if each account sends one. */
  #findCrowding(bodies: Iterable<Body>): string | undefined {
    const counts = new Map<string, number>()
    for (const { owner } of bodies) counts.set(owner, (counts.get(owner) ?? 0) + 1)
    const bytesOf = (owner: string): number => this.#byOwner.get(owner) ?? 0
    return [...counts].filter(([, count]) => count > 1).sort(([a], [b]) => bytesOf(b) - bytesOf(a))[0]?.[0]
  }

  #findExceeded(owner: string, more: number, size: number): ExceededLimit | undefined {
    const { maxBytes } = this.#options
    const owned = (this.#byOwner.get(owner) ?? 0) + more
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

  #drop(body: Body): void {
    const { owner, bytes } = body
    this.#arriving.delete(body)
    body.bytes = 0
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
