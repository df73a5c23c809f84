// Replicas that write the same object lose to each other. Who has just written lets the others have a turn, for about as long as it takes them
// to read and write: else the quickest would win each time, and a loser give up. Meanwhile its own requests gather for one update.

const CONTENDED_MILLISECONDS = 2_000
const FIRST_GUESS_MILLISECONDS = 10
const MAX_OTHERS = 8
const MAX_WAIT_MILLISECONDS = 500
/** Weight of the newest measurement. */
const NEWEST = 0.3

/** Says when the next update may begin. Times are milliseconds of a clock that never goes back. */
export class Turns {
  readonly #random: () => number
  #updateMilliseconds = FIRST_GUESS_MILLISECONDS
  #contendedAt = Number.NEGATIVE_INFINITY
  #freeAt = 0

  constructor(random: () => number) {
    this.#random = random
  }

  /** Another replica was seen to write. */
  noteOther(now: number): void {
    this.#contendedAt = now
  }

  /** An update of ours took so long; so many others have reservations there. */
  noteUpdate(now: number, tookMilliseconds: number, others: number): void {
    this.#updateMilliseconds += NEWEST * (tookMilliseconds - this.#updateMilliseconds)
    if (now - this.#contendedAt > CONTENDED_MILLISECONDS) return
    const turns = 2 * Math.min(MAX_OTHERS, Math.max(1, others))
    this.#freeAt = now + Math.min(MAX_WAIT_MILLISECONDS, turns * this.#updateMilliseconds * (0.75 + this.#random() / 2))
  }

  /** How long to wait before the next update. */
  wait(now: number): number {
    return Math.max(0, this.#freeAt - now)
  }
}
