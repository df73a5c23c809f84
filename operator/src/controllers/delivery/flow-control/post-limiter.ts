// Limits how many posts run at the same time: to one endpoint, of one account, and in total. Accounts with waiting posts are served
// round-robin, so an account hurts only its own posts, however many endpoints it has.

import { KeyedLimiter } from '../../../controller-runtime/keyed-limiter.ts'

export interface PostLimits {
  total: number
  perAccount: number
  perEndpoint: number
}

/** Keys of the account and the endpoint of a post. */
export interface PostKeys {
  account: string
  endpoint: string
}

export class PostLimiter {
  readonly #endpoints: KeyedLimiter
  readonly #accounts: KeyedLimiter

  /** @param mayStart returns false while no post may start; call {@link wake} when that changes */
  constructor({ total, perAccount, perEndpoint }: PostLimits, mayStart?: () => boolean) {
    this.#endpoints = new KeyedLimiter({ total: Number.POSITIVE_INFINITY, perKey: perEndpoint })
    this.#accounts = new KeyedLimiter({ total, perKey: perAccount }, mayStart)
  }

  /** Starts all posts that may start now. */
  wake(): void {
    this.#accounts.wake()
  }

  /** Runs `post` when all limits allow it. An endpoint at its limit takes no room from its account. @throws LimiterClosed when it is closed first */
  run<T>({ account, endpoint }: PostKeys, post: () => Promise<T>): Promise<T> {
    return this.#endpoints.run(endpoint, () => this.#accounts.run(account, post))
  }

  /** Rejects waiting posts and resolves when all running ones have ended. */
  async close(): Promise<void> {
    await Promise.all([this.#endpoints.close(), this.#accounts.close()])
  }
}
