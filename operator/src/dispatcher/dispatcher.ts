import type { Lister } from '@tintype/crds/client/lister'
import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import { chooseRunner, mayServe, type Runner, type Runners } from '../runner/runners.ts'
import type { Share } from './account-limits.ts'
import { FairQueue, type Waiting } from './fair-queue.ts'

export interface MatchmakerOptions {
  runners: Runners
  pools: Lister<RunnerPool>
  namespace: string
  /** What an account may have of the runners; absent: all accounts the same, without a ceiling. */
  shareOf?: (account: string) => Share
  /** Open claims of an account, on all pools. */
  runningOf?: (account: string) => number
  /** False while nothing may be dispatched: not the leader, not guarded, claims of an earlier leader not asked after. */
  isOpen: () => boolean
  now: () => number
  /** Called with the key of each Screenshot that has got a runner. */
  onMatch: (key: string) => void
}

/**
 * Brings waiting Screenshots and idle runners together, in one go without an await: so no runner is promised twice. A promise is not a
 * claim: that is the patch that follows. Whoever makes a runner idle or a Screenshot wait calls `wake`.
 */
export class Matchmaker {
  readonly #options: MatchmakerOptions
  readonly #queues = new Map<string, FairQueue>()
  readonly #poolOf = new Map<string, string>()
  /** Accounts of Screenshots that have a runner and no claim yet, by key. */
  readonly #promised = new Map<string, string>()

  constructor(options: MatchmakerOptions) {
    this.#options = options
  }

  /** Lets a Screenshot wait for a runner of a pool. One that waits already, or has a runner, stays as it is. */
  add(pool: string, item: Waiting): void {
    if (this.reservationOf(item.key)) return
    this.#promised.delete(item.key)
    const before = this.#poolOf.get(item.key)
    if (before !== undefined && before !== pool) this.#queues.get(before)?.remove(item.key)
    this.#queueOf(pool).add(item)
    this.#poolOf.set(item.key, pool)
    this.wake(pool)
  }

  /** A Screenshot neither waits nor keeps a runner any more. */
  drop(key: string): void {
    const pool = this.#poolOf.get(key)
    if (pool === undefined) return
    this.#poolOf.delete(key)
    this.#promised.delete(key)
    this.#queues.get(pool)?.remove(key)
    this.#options.runners.release(key, this.#options.now())
    this.wake(pool)
  }

  /** The runner promised to a Screenshot. */
  reservationOf(key: string): Runner | undefined {
    return this.#options.runners.reservedFor(key, this.#options.now())
  }

  /** How many wait. */
  queued(pool: string): number {
    return this.#queues.get(pool)?.size ?? 0
  }

  /** How many of them wait for their own account's captures to end: no further runner would help them. */
  heldBack(pool: string): number {
    const queue = this.#queues.get(pool)
    if (!queue) return 0
    return queue.accounts().reduce((sum, account) => sum + Math.max(0, queue.countOf(account) - this.#roomOf(account)), 0)
  }

  accountsWaiting(pool: string): string[] {
    return this.#queues.get(pool)?.accounts() ?? []
  }

  wakeAll(): void {
    for (const pool of this.#queues.keys()) this.wake(pool)
  }

  /** Gives idle runners of a pool to what waits, the fairest first. */
  wake(pool: string): void {
    const { runners, pools, namespace, now, isOpen, onMatch } = this.#options
    const queue = this.#queues.get(pool)
    const spec = pools.get(`${namespace}/${pool}`)?.spec
    if (!queue || queue.size === 0 || !spec || !isOpen()) return
    let idle = runners.idle(pool, spec, now())
    while (idle.length > 0) {
      const item = queue.take(
        (account) => this.#roomOf(account) > 0 && idle.some((runner) => mayServe(runner, account)),
        (account) => idle.some(({ accountName }) => accountName === account),
      )
      const runner = item && chooseRunner(idle, item.account)
      if (!runner) return
      runners.reserve(runner.uid, item.key)
      this.#promised.set(item.key, item.account)
      idle = idle.filter(({ uid }) => uid !== runner.uid)
      onMatch(item.key)
    }
  }

  /** How many more captures of an account may begin now. */
  #roomOf(account: string): number {
    const { shareOf, runningOf } = this.#options
    const ceiling = shareOf?.(account).maxRunning
    if (ceiling === undefined) return Number.POSITIVE_INFINITY
    const promised = [...this.#promised.values()].filter((other) => other === account).length
    return Math.max(0, ceiling - promised - (runningOf?.(account) ?? 0))
  }

  #queueOf(pool: string): FairQueue {
    let queue = this.#queues.get(pool)
    if (!queue) {
      queue = new FairQueue((account) => this.#options.shareOf?.(account).weight ?? 1)
      this.#queues.set(pool, queue)
    }
    return queue
  }
}
