import type { RequestRecord } from '@tintype/crds/client/kube-http'

// All replicas share rate limit windows and months, so they need one clock: the API server's. The Date header of its responses has a resolution of
// one second, which is enough to detect a machine whose clock is wrong.

const SECOND = 1_000
/** A slow response is too imprecise. */
const MAX_SECONDS = 0.5

/** The time of the API server. Equals the local time while both agree to the second. */
export class ServerClock {
  readonly #wall: () => number
  #aheadMilliseconds = 0

  /** @param wall local time in epoch milliseconds */
  constructor(wall: () => number) {
    this.#wall = wall
  }

  /** Call with every response. */
  note({ date, durationSeconds }: Pick<RequestRecord, 'date' | 'durationSeconds'>): void {
    const serverTime = Date.parse(date ?? '')
    if (Number.isNaN(serverTime) || durationSeconds > MAX_SECONDS) return
    // The server created the response within the second of its Date header, between the request and now.
    const least = serverTime - this.#wall()
    const most = least + SECOND + durationSeconds * SECOND
    const agrees = least <= SECOND && most >= -SECOND
    this.#aheadMilliseconds = agrees ? 0 : Math.round((least + most) / 2)
  }

  now(): Date {
    return new Date(this.#wall() + this.#aheadMilliseconds)
  }
}
