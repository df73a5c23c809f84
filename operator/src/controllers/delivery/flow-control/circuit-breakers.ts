// Circuit breakers of all endpoints of one leader. Kept in memory: a new leader starts with all circuits closed.

import { type Circuit, CLOSED, heldUntil, isForgettable, withEnd, withStart } from './circuit.ts'

export interface CircuitBreakersDeps {
  now: () => Date
  /** Called for each Screenshot that waited when a circuit closes. */
  onRelease: (screenshotKey: string) => void
  /** Called when the circuit of an endpoint opens or closes. */
  onChange: (endpoint: string, isOpen: boolean) => void
}

/** Reports the result of a post: success, failure, or (undefined) not sent. */
export type EndPost = (isSuccess: boolean | undefined) => void

/** Endpoints are identified by their keys in the limiter. */
export class CircuitBreakers {
  readonly #deps: CircuitBreakersDeps
  readonly #circuitBreakers = new Map<string, Circuit>()
  /** Screenshots that wait, by endpoint. */
  readonly #waiting = new Map<string, Set<string>>()

  constructor(deps: CircuitBreakersDeps) {
    this.#deps = deps
  }

  isOpen(endpoint: string): boolean {
    return this.#circuitBreakers.get(endpoint)?.openUntil !== undefined
  }

  /** Time until which an attempt is delayed; undefined when it may start. `onRelease` is called when the delay ends early. */
  heldUntil(endpoint: string, dueAt: Date, screenshotKey: string): Date | undefined {
    const circuit = this.#circuitBreakers.get(endpoint)
    const until = circuit && heldUntil(circuit, dueAt.getTime(), this.#now())
    if (until === undefined) return undefined
    const waiting = this.#waiting.get(endpoint) ?? new Set()
    this.#waiting.set(endpoint, waiting.add(screenshotKey))
    return new Date(until)
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
    this.#waiting.clear()
    for (const endpoint of this.#circuitBreakers.keys()) this.#set(endpoint, CLOSED)
  }

  #set(endpoint: string, circuit: Circuit): void {
    const before = this.#circuitBreakers.get(endpoint)
    this.#circuitBreakers.set(endpoint, circuit)
    const isOpen = circuit.openUntil !== undefined
    if (isOpen !== (before?.openUntil !== undefined)) this.#deps.onChange(endpoint, isOpen)
    // On a new pause the waiting Screenshots are dropped: they are due before it ends and ask again. This bounds the memory of a dead endpoint.
    if (isOpen && circuit.openUntil !== before?.openUntil) this.#waiting.delete(endpoint)
    // If a probe was not sent, another one may try.
    if (!isOpen || (before?.isProbing && !circuit.isProbing && circuit.openUntil === before.openUntil)) this.#release(endpoint)
  }

  #release(endpoint: string): void {
    const waiting = this.#waiting.get(endpoint)
    this.#waiting.delete(endpoint)
    for (const key of waiting ?? []) this.#deps.onRelease(key)
  }

  #now(): number {
    return this.#deps.now().getTime()
  }
}
