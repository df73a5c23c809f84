// Replicas that update the same object conflict with each other. After a write, a replica waits for as long as the others need to read and
// write once. Without this wait the fastest replica would win every time and a slow one would give up. Requests that arrive during the wait
// are batched into one update. Replicas take turns in the order of their names: every foreign write that is seen shows how many replicas are
// still ahead, and the next replica starts at once.

const CONTENDED_MILLISECONDS = 2_000
const FIRST_GUESS_MILLISECONDS = 10
const MAX_OTHERS = 8
const MAX_WAIT_MILLISECONDS = 1_500
/** Weight of the newest measurement in the moving average. */
const SMOOTHING = 0.3

/** Round robin between the replicas that write one object. Times are milliseconds of a monotonic clock. */
export class WriteRoundRobin {
  readonly #random: () => number
  #updateMilliseconds = FIRST_GUESS_MILLISECONDS
  #contendedAt = Number.NEGATIVE_INFINITY
  #freeAt = 0
  /** This replica writes at this time at the latest, whatever the others do. */
  #deadline = 0
  /** This replica, then the others in the order of their turns, as of its last write. */
  #round: readonly string[] = []

  constructor(random: () => number) {
    this.#random = random
  }

  /** Records that another replica has written. */
  noteForeignWrite(now: number): void {
    this.#contendedAt = now
  }

  /** Records how long this replica's write took. @param own name of this replica @param others replicas with reservations in the object */
  noteOwnWrite(now: number, tookMilliseconds: number, own: string, others: readonly string[]): void {
    this.#updateMilliseconds += SMOOTHING * (tookMilliseconds - this.#updateMilliseconds)
    this.#round = roundOf(own, others)
    this.#deadline = now + MAX_WAIT_MILLISECONDS
    if (now - this.#contendedAt <= CONTENDED_MILLISECONDS) this.#yieldTo(Math.max(1, others.length), now)
  }

  /** Records which replica wrote last. The replicas between that one and this one are next. */
  noteWriterProgress(now: number, name: string): void {
    const position = this.#round.indexOf(name)
    if (position > 0 && this.#freeAt > now) this.#yieldTo(this.#round.length - 1 - position, now)
  }

  /** Milliseconds to wait before the next write. */
  delay(now: number): number {
    return Math.max(0, this.#freeAt - now)
  }

  /** Every replica needs two requests: a read and a write. */
  #yieldTo(others: number, now: number): void {
    const requests = 2 * Math.min(MAX_OTHERS, others)
    this.#freeAt = Math.min(this.#deadline, now + requests * this.#updateMilliseconds * (0.75 + this.#random() / 2))
  }
}

/** The order of turns, starting with this replica. */
const roundOf = (own: string, others: readonly string[]): string[] => [
  own,
  ...others.filter((other) => other > own).toSorted(),
  ...others.filter((other) => other < own).toSorted(),
]
