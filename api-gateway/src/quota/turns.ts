// Replicas that write the same object lose to each other. Who has just written lets the others have a turn, for about as long as it takes them
// to read and write: else the quickest would win each time, and a loser give up. Meanwhile its own requests gather for one update.
// They go round in the order of their names: each update that is seen tells how many are still before us, and who is next begins at once.

const CONTENDED_MILLISECONDS = 2_000
const FIRST_GUESS_MILLISECONDS = 10
const MAX_OTHERS = 8
const MAX_WAIT_MILLISECONDS = 1_500
/** Weight of the newest measurement. */
const NEWEST = 0.3

/** Says when the next update may begin. Times are milliseconds of a clock that never goes back. */
export class Turns {
  readonly #random: () => number
  #updateMilliseconds = FIRST_GUESS_MILLISECONDS
  #contendedAt = Number.NEGATIVE_INFINITY
  #freeAt = 0
  /** When we write whatever the others do. */
  #latest = 0
  /** We ourselves, and who comes after us, as it was at our last update. */
  #round: readonly string[] = []

  constructor(random: () => number) {
    this.#random = random
  }

  /** Another replica was seen to write. */
  noteOther(now: number): void {
    this.#contendedAt = now
  }

  /** An update of ours, whose name is `own`, took so long; the others have reservations there. */
  noteUpdate(now: number, tookMilliseconds: number, own: string, others: readonly string[]): void {
    this.#updateMilliseconds += NEWEST * (tookMilliseconds - this.#updateMilliseconds)
    this.#round = roundOf(own, others)
    this.#latest = now + MAX_WAIT_MILLISECONDS
    if (now - this.#contendedAt <= CONTENDED_MILLISECONDS) this.#leaveTo(Math.max(1, others.length), now)
  }

  /** An update of another replica was seen: those after it and before us are next. */
  noteWriter(now: number, name: string): void {
    const place = this.#round.indexOf(name)
    if (place > 0 && this.#freeAt > now) this.#leaveTo(this.#round.length - 1 - place, now)
  }

  /** How long to wait before the next update. */
  wait(now: number): number {
    return Math.max(0, this.#freeAt - now)
  }

  /** Two requests each: one to read, one to write. */
  #leaveTo(others: number, now: number): void {
    const requests = 2 * Math.min(MAX_OTHERS, others)
    this.#freeAt = Math.min(this.#latest, now + requests * this.#updateMilliseconds * (0.75 + this.#random() / 2))
  }
}

/** Who goes in which order, beginning with us. */
const roundOf = (own: string, others: readonly string[]): string[] => [
  own,
  ...others.filter((other) => other > own).toSorted(),
  ...others.filter((other) => other < own).toSorted(),
]
