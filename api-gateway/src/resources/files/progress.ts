/** Time over which the rate of a download is averaged. */
const WINDOW_MILLISECONDS = 30_000
/** Slower downloads end first when slots run short. docs/operations.md names this rate. */
export const MINIMUM_BYTES_PER_SECOND = 16_384

interface Sample {
  at: number
  bytes: number
}

/** How fast a client takes a response, from samples of the bytes sent. Times are in milliseconds. */
export class Progress {
  /** The last 30 seconds, oldest first. */
  readonly #samples: Sample[]
  #movedAt: number

  constructor(at: number, bytes: number) {
    this.#samples = [{ at, bytes }]
    this.#movedAt = at
  }

  get #first(): Sample {
    return this.#samples[0] as Sample
  }

  get #last(): Sample {
    return this.#samples.at(-1) as Sample
  }

  /** Adds a sample. Without `bytes`, nothing was sent. */
  add(at: number, bytes: number = this.#last.bytes): void {
    if (bytes > this.#last.bytes) this.#movedAt = at
    this.#samples.push({ at, bytes })
    // The first sample may be older than the window, but not the second one.
    while ((this.#samples[1] as Sample).at <= at - WINDOW_MILLISECONDS) this.#samples.shift()
  }

  /** Bytes per second in the last 30 seconds. Infinity for a download without a second sample. */
  get bytesPerSecond(): number {
    const seconds = (this.#last.at - this.#first.at) / 1_000
    return seconds === 0 ? Number.POSITIVE_INFINITY : (this.#last.bytes - this.#first.bytes) / seconds
  }

  /** True if the rate was below the minimum for 30 seconds. */
  get isSlow(): boolean {
    return this.#last.at - this.#first.at >= WINDOW_MILLISECONDS && this.bytesPerSecond < MINIMUM_BYTES_PER_SECOND
  }

  /** Time since a sample had more bytes than the one before. */
  get idleMilliseconds(): number {
    return this.#last.at - this.#movedAt
  }
}
