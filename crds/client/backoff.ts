/** Waits between attempts in milliseconds: a short first one, then decorrelated jitter between `base` and `cap`. */
export type BackoffOptions = { base: number; cap: number; random?: () => number }

/**
 * Decorrelated backoff: each wait is drawn between the base and three times the wait before.
 * The first wait is a fraction of the base, because most failures are a single reset and every waiting client costs a user time.
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

  /** After a success: the next failure waits briefly again. */
  reset(): void {
    this.#last = 0
  }
}
