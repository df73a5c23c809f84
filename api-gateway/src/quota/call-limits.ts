import { type Bucket, countRequest, rateRemaining, secondsUntilRoom } from '@tintype/crds/rate-window'

/** What a request costs besides quota: a read (lists, reports, deletions), or a change of keys and webhooks. Nothing: polls of one record. */
export type CallKind = 'read' | 'management'

/** Calls in any 60 seconds, an account, on each replica. They guard this process; what is paid for is counted exactly. */
export type CallsPerMinute = Readonly<Record<CallKind, number>>

const FORGET_ABOVE = 10_000

/** Counts in memory the calls that cost no quota. */
export class CallLimits {
  readonly perMinute: CallsPerMinute
  readonly #windows = new Map<string, readonly Bucket[]>()

  constructor(perMinute: CallsPerMinute) {
    this.perMinute = perMinute
  }

  /** Counts a call; the seconds until it may be repeated when it is one too many. */
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
