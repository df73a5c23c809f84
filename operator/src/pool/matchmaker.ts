import type { Lister } from '@tintype/crds/client/lister'
import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import { FairQueue, type Waiting } from './fair-queue.ts'
import { chooseRunner, isIdle, mayServe, type Runner, type Runners } from './runners.ts'

export interface MatchmakerOptions {
  runners: Runners
  pools: Lister<RunnerPool>
  namespace: string
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

  constructor(options: MatchmakerOptions) {
    this.#options = options
  }

  /** Lets a Screenshot wait for a runner of a pool. One that waits already, or has a runner, stays as it is. */
  add(pool: string, item: Waiting): void {
    if (this.reservationOf(item.key)) return
    this.#queueOf(pool).add(item)
    this.#poolOf.set(item.key, pool)
    this.wake(pool)
  }

  /** A Screenshot neither waits nor keeps a runner any more. */
  drop(key: string): void {
    const pool = this.#poolOf.get(key)
    if (pool === undefined) return
    this.#poolOf.delete(key)
    this.#queues.get(pool)?.remove(key)
    this.#options.runners.release(key, this.#options.now())
    this.wake(pool)
  }

  /** The runner promised to a Screenshot. */
  reservationOf(key: string): Runner | undefined {
    return this.#options.runners.reservedFor(key, this.#options.now())
  }

  /** How many wait, and how many of them no runner that is busy or idle now could take. */
  queued(pool: string): number {
    return this.#queues.get(pool)?.size ?? 0
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
    let idle = runners.of(pool, now()).filter((runner) => isIdle(runner, spec, now()))
    while (idle.length > 0) {
      const item = queue.take((account) => idle.some((runner) => mayServe(runner, account)))
      const runner = item && chooseRunner(idle, item.account)
      if (!runner) return
      runners.reserve(runner.uid, item.key)
      idle = idle.filter(({ uid }) => uid !== runner.uid)
      onMatch(item.key)
    }
  }

  #queueOf(pool: string): FairQueue {
    let queue = this.#queues.get(pool)
    if (!queue) {
      queue = new FairQueue()
      this.#queues.set(pool, queue)
    }
    return queue
  }
}
