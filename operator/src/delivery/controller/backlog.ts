// Results of posts that are not recorded in status.deliveries yet. An operator that is killed repeats them, so there may be only so many: while there are, nothing new
// is posted, and what is known is written down at once instead of with the posts beside it.

/** As many as are written at the same time. */
const MAX_ENDED = 32
/** An end that cannot be written for so long must not keep everybody else's posts from leaving. */
const PATIENCE_MILLISECONDS = 30_000

interface End {
  screenshotKey: string
  /** Milliseconds of a clock that never goes back. */
  at: number
}

/** See the head of this file. */
export class Backlog {
  /** By delivery; oldest first, as Maps keep it. */
  readonly #ends = new Map<string, End>()
  readonly #now: () => number
  /** Called with the Screenshots whose ends wait, when there are too many. */
  onFull: (screenshotKeys: readonly string[]) => void = () => undefined
  /** Called when there is room again. */
  onRoom: () => void = () => undefined

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  add(delivery: string, screenshotKey: string): void {
    this.#ends.delete(delivery)
    this.#ends.set(delivery, { screenshotKey, at: this.#now() })
    if (this.#ends.size === MAX_ENDED) this.onFull([...new Set([...this.#ends.values()].map((end) => end.screenshotKey))])
  }

  /** It is written down, or nobody needs it any more. */
  remove(delivery: string): void {
    if (this.#ends.delete(delivery) && this.#ends.size === MAX_ENDED - 1) this.onRoom()
  }

  get isFull(): boolean {
    for (const [delivery, { at }] of this.#ends) {
      if (this.#now() - at < PATIENCE_MILLISECONDS) break
      this.#ends.delete(delivery)
    }
    return this.#ends.size >= MAX_ENDED
  }
}
