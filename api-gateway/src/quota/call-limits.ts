import { type Bucket, countRequest, rateRemaining, secondsUntilRoom } from '@tintype/crds/usage/usage'

/** Rate limit class of a request that costs no quota: reads (lists, reports, deletions), changes of keys and webhooks, or signed links. Polls have none. */
export type CallKind = 'read' | 'management' | 'link'

/** Calls per account and replica in any 60 seconds. These limits protect the process. Quota is counted exactly elsewhere. */
export type CallsPerMinute = Readonly<Record<CallKind, number>>

const FORGET_ABOVE = 10_000

/** Counts calls that cost no quota, in memory. */
export class CallLimits {
  readonly perMinute: CallsPerMinute
  readonly #windows = new Map<string, readonly Bucket[]>()

  constructor(perMinute: CallsPerMinute) {
    this.perMinute = perMinute
  }

  /** Counts a call. Returns the seconds to wait when the limit is reached, else undefined. */
  take(kind: CallKind, account: string, now: Date): number | undefined {
    const key = `${kind}/${account}`
    const limit = this.perMinute[kind]
    const window = this.#windows.get(key) ?? []
    if (rateRemaining(window, limit, now) === 0) return secondsUntilRoom(window, limit, now)
    if (this.#windows.size > FORGET_ABOVE) this.#forgetIdle(now)
    this.#windows.set(key, countRequest(window, now))
    return undefined
  }

  #forgetIdle(now: Date): void {
    for (const [key, window] of this.#windows) if (rateRemaining(window, 1, now) === 1) this.#windows.delete(key)
  }
}
