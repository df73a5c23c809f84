// The circuit breakers of one leader's endpoints. A memory only: a new leader begins with all of them closed.

import { type Circuit, CLOSED, heldUntil, isForgettable, withEnd, withStart } from './circuit.ts'

export interface CircuitBreakersDeps {
  now: () => Date
  /** Called for each Screenshot that waited at a circuit that has closed. */
  onRelease: (screenshotKey: string) => void
  /** Called when an endpoint's circuit has opened or closed. */
  onChange: (endpoint: string, isOpen: boolean) => void
}

/** Tells how a post ended: well, badly, or (undefined) not at all. */
export type EndPost = (isSuccess: boolean | undefined) => void

/** See the head of this file. Endpoints are known by the names of their limiter. */
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

  /** Until when an attempt waits; undefined when it may start. Who waits is called when there is no more reason to. */
  heldUntil(endpoint: string, dueAt: Date, screenshotKey: string): Date | undefined {
    const circuit = this.#circuitBreakers.get(endpoint)
    const until = circuit && heldUntil(circuit, dueAt.getTime(), this.#now())
    if (until === undefined) return undefined
    const waiting = this.#waiting.get(endpoint) ?? new Set()
    this.#waiting.set(endpoint, waiting.add(screenshotKey))
    return new Date(until)
  }

  /** Notes that a post starts; what it returns is to be called once, when the post has ended. */
  start(endpoint: string): EndPost {
    this.#set(endpoint, withStart(this.#circuitBreakers.get(endpoint) ?? CLOSED, this.#now()))
    return (isSuccess) => this.#set(endpoint, withEnd(this.#circuitBreakers.get(endpoint) ?? CLOSED, isSuccess, this.#now()))
  }

  /** Forgets endpoints at which nothing has happened for a while. */
  sweep(): void {
    for (const [endpoint, circuit] of this.#circuitBreakers) {
      if (!isForgettable(circuit, this.#now())) continue
      this.#set(endpoint, CLOSED)
      this.#circuitBreakers.delete(endpoint)
    }
  }

  /** The end of a term: what is open is open no more. */
  close(): void {
    this.#waiting.clear()
    for (const endpoint of this.#circuitBreakers.keys()) this.#set(endpoint, CLOSED)
  }

  #set(endpoint: string, circuit: Circuit): void {
    const before = this.#circuitBreakers.get(endpoint)
    this.#circuitBreakers.set(endpoint, circuit)
    const isOpen = circuit.openUntil !== undefined
    if (isOpen !== (before?.openUntil !== undefined)) this.#deps.onChange(endpoint, isOpen)
    // A new pause: who waited is due before it ends, and asks again. So what is remembered does not grow while an endpoint stays dead.
    if (isOpen && circuit.openUntil !== before?.openUntil) this.#waiting.delete(endpoint)
    // A probe that was given up lets the next one try.
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
