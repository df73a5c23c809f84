import { KeyedLimiter } from '../../controller-runtime/keyed-limiter.ts'

// Circuit breakers of all endpoints of one leader. Kept in memory: a new leader starts with all circuits closed.

export interface CircuitBreakersDeps {
  now: () => Date
  /** Called when the circuit of an endpoint opens or closes. */
  onChange: (endpoint: string, isOpen: boolean) => void
}

/** Reports the result of a post: success, failure, or (undefined) not sent. */
export type EndPost = (isSuccess: boolean | undefined) => void

/** Endpoints are identified by their keys in the limiter. */
export class CircuitBreakers {
  readonly #deps: CircuitBreakersDeps
  readonly #circuitBreakers = new Map<string, Circuit>()

  constructor(deps: CircuitBreakersDeps) {
    this.#deps = deps
  }

  isOpen(endpoint: string): boolean {
    return this.#circuitBreakers.get(endpoint)?.openUntil !== undefined
  }

  /** Time until which an attempt is delayed; undefined when it may start. */
  heldUntil(endpoint: string, dueAt: Date): Date | undefined {
    const circuit = this.#circuitBreakers.get(endpoint)
    const until = circuit && heldUntil(circuit, dueAt.getTime(), this.#now())
    return until === undefined ? undefined : new Date(until)
  }

  /** Notes that a post starts. Call the returned function once when it has ended. */
  start(endpoint: string): EndPost {
    this.#set(endpoint, withStart(this.#circuitBreakers.get(endpoint) ?? CLOSED, this.#now()))
    return (isSuccess) => this.#set(endpoint, withEnd(this.#circuitBreakers.get(endpoint) ?? CLOSED, isSuccess, this.#now()))
  }

  /** Removes endpoints without recent posts. */
  forgetIdle(): void {
    for (const [endpoint, circuit] of this.#circuitBreakers) {
      if (!isForgettable(circuit, this.#now())) continue
      this.#set(endpoint, CLOSED)
      this.#circuitBreakers.delete(endpoint)
    }
  }

  /** Closes all circuits at the end of a term. */
  close(): void {
    for (const endpoint of this.#circuitBreakers.keys()) this.#set(endpoint, CLOSED)
  }

  #set(endpoint: string, circuit: Circuit): void {
    const before = this.#circuitBreakers.get(endpoint)
    this.#circuitBreakers.set(endpoint, circuit)
    const isOpen = circuit.openUntil !== undefined
    if (isOpen !== (before?.openUntil !== undefined)) this.#deps.onChange(endpoint, isOpen)
  }

  #now(): number {
    return this.#deps.now().getTime()
  }
}

// Circuit breaker of one endpoint. Pure. When most posts to an endpoint fail, it is paused; then one post is sent as a probe. The pause delays
// the start of an attempt by 30 s at most and never uses up an attempt: a delayed attempt is neither recorded nor counted.

/** Posts of one time slot. */
interface Slot {
  /** Start of the slot in milliseconds. */
  from: number
  posts: number
  failures: number
}

/** State of an endpoint. Times are milliseconds. */
export interface Circuit {
  /** Slots of the last five minutes, oldest first. */
  slots: readonly Slot[]
  /** Set while the circuit is open. From this time on one post is sent as a probe. */
  openUntil?: number
  isProbing?: boolean
}

/** The circuit opens at this ratio of failures … */
const FAILURE_SHARE = 0.7
/** … of at least so many posts … */
const MIN_POSTS = 10
/** … within this time. */
const WINDOW_MILLISECONDS = 300_000
const SLOT_MILLISECONDS = 10_000
/** How long it stays open, and the maximum delay of an attempt. */
export const PAUSE_MILLISECONDS = 30_000
/** How long attempts wait before they ask again whether a probe has ended. */
const PROBE_MILLISECONDS = 5_000

export const CLOSED: Circuit = { slots: [] }

/** State after a post started. */
export const withStart = (circuit: Circuit, now: number): Circuit =>
  circuit.openUntil !== undefined && now >= circuit.openUntil ? { ...circuit, isProbing: true } : circuit

/** State after a post ended. `isSuccess` is undefined when the post was not sent. */
export function withEnd(circuit: Circuit, isSuccess: boolean | undefined, now: number): Circuit {
  const { openUntil, isProbing: _, ...rest } = circuit
  const kept = openUntil === undefined ? rest : { ...rest, openUntil }
  if (isSuccess === undefined) return kept
  if (openUntil !== undefined && now >= openUntil) return isSuccess ? CLOSED : { ...rest, openUntil: now + PAUSE_MILLISECONDS }
  const slots = addPost(circuit.slots, isSuccess, now)
  if (openUntil !== undefined) return { ...circuit, slots }
  return isFailing(slots) ? { slots, openUntil: now + PAUSE_MILLISECONDS } : { slots }
}

/** Time until which an attempt that was due at `dueAt` is delayed; undefined when it may start. */
export function heldUntil({ openUntil, isProbing }: Circuit, dueAt: number, now: number): number | undefined {
  const latest = dueAt + PAUSE_MILLISECONDS
  if (openUntil === undefined || latest <= now) return undefined
  if (now < openUntil) return Math.min(openUntil, latest)
  return isProbing ? Math.min(now + PROBE_MILLISECONDS, latest) : undefined
}

/** True when the state equals that of a new endpoint. */
export const isForgettable = ({ slots, openUntil }: Circuit, now: number): boolean =>
  openUntil === undefined ? recent(slots, now).length === 0 : now >= openUntil + WINDOW_MILLISECONDS

const recent = (slots: readonly Slot[], now: number): Slot[] => slots.filter(({ from }) => now - from < WINDOW_MILLISECONDS)

function addPost(slots: readonly Slot[], isSuccess: boolean, now: number): Slot[] {
  const from = now - (now % SLOT_MILLISECONDS)
  const others = recent(slots, now)
  const current = others.at(-1)?.from === from ? others.pop() : undefined
  const { posts, failures } = current ?? { posts: 0, failures: 0 }
  return [...others, { from, posts: posts + 1, failures: failures + (isSuccess ? 0 : 1) }]
}

function isFailing(slots: readonly Slot[]): boolean {
  const posts = slots.reduce((sum, slot) => sum + slot.posts, 0)
  const failures = slots.reduce((sum, slot) => sum + slot.failures, 0)
  return posts >= MIN_POSTS && failures >= FAILURE_SHARE * posts
}

// Limits how many posts run at the same time: to one endpoint, of one account, and in total. Accounts with waiting posts are served
// round-robin, so an account hurts only its own posts, however many endpoints it has.

export interface PostLimits {
  total: number
  perAccount: number
  perEndpoint: number
}

/** Keys of the account and the endpoint of a post. */
export interface PostKeys {
  account: string
  endpoint: string
}

export class PostLimiter {
  readonly #endpoints: KeyedLimiter
  readonly #accounts: KeyedLimiter

  /** @param mayStart returns false while no post may start; call {@link wake} when that changes */
  constructor({ total, perAccount, perEndpoint }: PostLimits, mayStart?: () => boolean) {
    this.#endpoints = new KeyedLimiter({ total: Number.POSITIVE_INFINITY, perKey: perEndpoint })
    this.#accounts = new KeyedLimiter({ total, perKey: perAccount }, mayStart)
  }

  /** Starts all posts that may start now. */
  wake(): void {
    this.#accounts.wake()
  }

  /** Runs `post` when all limits allow it. An endpoint at its limit takes no room from its account. @throws LimiterClosed when it is closed first */
  run<T>({ account, endpoint }: PostKeys, post: () => Promise<T>): Promise<T> {
    return this.#endpoints.run(endpoint, () => this.#accounts.run(account, post))
  }

  /** Rejects waiting posts and resolves when all running ones have ended. */
  async close(): Promise<void> {
    await Promise.all([this.#endpoints.close(), this.#accounts.close()])
  }
}
