import { setImmediate as nextTurn } from 'node:timers/promises'

// Long computations run in parts, so that the runner reports, ends captures and obeys time limits meanwhile.

/** A computation that yields between its parts. Each part takes some milliseconds. */
export type InParts<T> = Generator<void, T>

/** Runs a computation. Between its parts, the event loop turns. @throws the signal's reason */
export async function inTurns<T>(work: InParts<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    const part = work.next()
    if (part.done) return part.value
    await nextTurn()
    signal.throwIfAborted()
  }
}

/** Steps of a part. A step takes some nanoseconds. */
const PART_STEPS = 250_000

/** Counts the steps of a computation. */
export class Steps {
  #left = PART_STEPS

  /** Counts steps. Returns true if a part has ended. */
  add(steps: number): boolean {
    this.#left -= steps
    if (this.#left > 0) return false
    this.#left = PART_STEPS
    return true
  }
}
