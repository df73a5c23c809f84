import type { RequestRecord } from '@tintype/crds/client/kube-http'

// Windows and months are shared by all replicas, so they go by one clock: the API server's. Its answers tell it to the second, which is enough
// to find a machine whose own clock is wrong.

const SECOND = 1_000
/** A slow answer says too little about the instant at which it was given. */
const MAX_SECONDS = 0.5

/** The time as the API server has it; this machine's own while the two agree to the second. */
export class ServerClock {
  readonly #wall: () => number
  #aheadMilliseconds = 0

  /** @param wall epoch milliseconds of this machine */
  constructor(wall: () => number) {
    this.#wall = wall
  }

  /** Looks at an answer that has just come. */
  note({ date, durationSeconds }: Pick<RequestRecord, 'date' | 'durationSeconds'>): void {
    const told = Date.parse(date ?? '')
    if (Number.isNaN(told) || durationSeconds > MAX_SECONDS) return
    // It was given in the second that it names, at some time between the request and now.
    const least = told - this.#wall()
    const most = least + SECOND + durationSeconds * SECOND
    const agrees = least <= SECOND && most >= -SECOND
    this.#aheadMilliseconds = agrees ? 0 : Math.round((least + most) / 2)
  }

  now(): Date {
    return new Date(this.#wall() + this.#aheadMilliseconds)
  }
}
