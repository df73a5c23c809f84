import { LRUCache } from 'lru-cache'

// Clock differences between the runners' nodes and this process, measured by the Date header of responses. Clocks drift, and signatures and
// deadlines are accurate to seconds, so both use the runner's time.

/** A Date header is truncated to seconds and delayed by the network: smaller differences are ignored. */
const NOISE_MILLISECONDS = 2_000
/** Larger differences are not compensated: a signature for such a clock would be valid too long elsewhere. */
export const MAX_OFFSET_MILLISECONDS = 900_000
const MAX_REMEMBERED = 4_096

/** Offsets by pod uid. */
export class ClockOffsets {
  readonly #ahead = new LRUCache<string, number>({ max: MAX_REMEMBERED })

  /** Milliseconds by which the clock is ahead; 0 when it agrees or is unknown. */
  of(uid: string): number {
    return this.#ahead.get(uid) ?? 0
  }

  /** Records the Date of a response. Returns true when the offset changed. NaN is ignored. */
  note(uid: string, date: number, now: number): boolean {
    const seen = date - now
    if (Number.isNaN(seen) || Math.abs(seen) > MAX_OFFSET_MILLISECONDS) return false
    const before = this.of(uid)
    if (Math.abs(seen - before) <= NOISE_MILLISECONDS) return false
    if (Math.abs(seen) > NOISE_MILLISECONDS) this.#ahead.set(uid, seen)
    else this.#ahead.delete(uid)
    return true
  }
}
