/** Limits of the waits between attempts, in milliseconds. */
export type BackoffOptions = { base: number; cap: number; random?: () => number }

/**
 * Backoff with decorrelated jitter: each wait is a random time between the base and three times the previous wait, at most the cap.
 * The first wait is a fraction of the base, because most failures are a single connection reset and each wait delays users.
 */
export class Backoff {
  readonly #base: number
  readonly #cap: number
  readonly #random: () => number
  #last = 0

  constructor({ base, cap, random = Math.random }: BackoffOptions) {
    this.#base = base
    this.#cap = cap
    this.#random = random
  }

  /** The next wait. */
  next(): number {
    const [low, high] = this.#last === 0 ? [this.#base / 8, this.#base / 2] : [this.#base, Math.max(this.#base, this.#last * 3)]
    this.#last = Math.min(this.#cap, low + this.#random() * (high - low))
    return this.#last
  }

  /** Call after a success, so that the next wait is short again. */
  reset(): void {
    this.#last = 0
  }
}
