// By how much the clocks of runners' nodes differ from this one's, told by the Date of their answers. Nodes drift, and signatures and deadlines
// are measured in seconds: so both are said in the runner's own time.

/** A Date is cut to whole seconds, and took some time to arrive: less than this is no difference. */
const NOISE_MILLISECONDS = 2_000
/** A clock that is off by more is not followed: what is signed for it would hold too long elsewhere. */
export const MAX_OFFSET_MILLISECONDS = 900_000
const MAX_REMEMBERED = 4_096

/** By pod uid. */
export class ClockOffsets {
  readonly #ahead = new Map<string, number>()

  /** Milliseconds by which it is ahead; 0 for one that agrees or is not known. */
  of(uid: string): number {
    return this.#ahead.get(uid) ?? 0
  }

  /** Takes in what an answer says of the time; true when that is another time than was believed. NaN says nothing. */
  note(uid: string, date: number, now: number): boolean {
    const seen = date - now
    if (Number.isNaN(seen) || Math.abs(seen) > MAX_OFFSET_MILLISECONDS) return false
    const before = this.of(uid)
    if (Math.abs(seen - before) <= NOISE_MILLISECONDS) return false
    this.#ahead.delete(uid)
    if (Math.abs(seen) > NOISE_MILLISECONDS) this.#ahead.set(uid, seen)
    if (this.#ahead.size > MAX_REMEMBERED) for (const oldest of this.#ahead.keys().take(1)) this.#ahead.delete(oldest)
    return true
  }
}
