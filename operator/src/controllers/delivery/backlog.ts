// Results of posts that are not recorded in status.deliveries yet. If the operator is killed, these posts are repeated, so their number is
// limited: when the limit is reached, no new post starts, and results are written at once instead of together with running posts.

/** Equals the number of concurrent writes. */
const MAX_ENDED = 32
/** A result that cannot be written for so long no longer blocks other posts. */
const MAX_BLOCKING_MILLISECONDS = 30_000

interface End {
  screenshotKey: string
  /** Monotonic milliseconds. */
  at: number
}

export class Backlog {
  /** By delivery, oldest first. */
  readonly #ends = new Map<string, End>()
  readonly #now: () => number
  /** Called with the Screenshots to record when the limit is reached. */
  onFull: (screenshotKeys: readonly string[]) => void = () => undefined
  /** Called when the number falls below the limit. */
  onRoom: () => void = () => undefined

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  add(delivery: string, screenshotKey: string): void {
    this.#ends.delete(delivery)
    this.#ends.set(delivery, { screenshotKey, at: this.#now() })
    if (this.#ends.size === MAX_ENDED) this.onFull([...new Set([...this.#ends.values()].map((end) => end.screenshotKey))])
  }

  /** The result was recorded or is no longer needed. */
  remove(delivery: string): void {
    if (this.#ends.delete(delivery) && this.#ends.size === MAX_ENDED - 1) this.onRoom()
  }

  get isFull(): boolean {
    for (const [delivery, { at }] of this.#ends) {
      if (this.#now() - at < MAX_BLOCKING_MILLISECONDS) break
      this.#ends.delete(delivery)
    }
    return this.#ends.size >= MAX_ENDED
  }
}
