import type { Lister } from '@tintype/crds/client/lister'
import type { Account } from '@tintype/crds/kinds/account'
import { poolOf, type RunnerPool } from '@tintype/crds/kinds/runner-pool'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { isMoving } from '@tintype/crds/options/output/formats'
import { accountOf } from '@tintype/crds/records/record'
import { findPlan, limitsOfPlan, type Plans } from '@tintype/crds/usage/plans'
import { limitsOf as poolLimitsOf } from '../runner/pod.ts'
import { chooseRunner, mayServe, type Runners } from '../runner/runners.ts'
import { FairQueue, type QueuedItem } from './fair-queue.ts'

interface DispatcherOptions {
  runners: Runners
  pools: Lister<RunnerPool>
  namespace: string
  /** Weight and limit of an account; default: all accounts have the same weight and no limit. */
  limitsOf?: (account: string) => AccountLimits
  /** Number of open claims of an account in all pools. */
  runningOf?: (account: string) => number
  /** False while nothing may be dispatched: not the leader, no admission policies, or claims of an earlier leader not checked yet. */
  isOpen: () => boolean
  now: () => number
  /** Called with the key of each Screenshot that a runner was assigned to. */
  onAssigned: (key: string) => void
}

/** Time without an assignment after which the runners of a pool count as stuck. */
const MOVING_MILLISECONDS = 2_000

/** Runner time that a unit of quota stands for in the fair queue. Ordinary captures need less. */
const MILLISECONDS_PER_UNIT = 2_000

/**
 * Assigns queued Screenshots to idle runners. While a release has several accounts, the last runner of a pool goes only to an account that runs
 * nothing. Assigning is synchronous, so no runner is reserved twice. A reservation is not a claim: the claim
 * is the status patch that follows. Call `wake` when a runner becomes idle or a Screenshot is queued.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #queues = new Map<string, FairQueue>()
  readonly #poolOf = new Map<string, string>()
  /** Time at which a pool last assigned a runner that was not its last one. */
  readonly #movedAt = new Map<string, number>()
  readonly #timers = new Map<string, NodeJS.Timeout>()
  /** Accounts of Screenshots that have a reservation and no claim yet, by key. */
  readonly #reserved = new Map<string, string>()

  constructor(options: DispatcherOptions) {
    this.#options = options
  }

  /** Queues a Screenshot for a pool. One that is queued already or has a runner is left unchanged. */
  add(pool: string, item: QueuedItem): void {
    if (this.#options.runners.reservedFor(item.key)) return
    this.#reserved.delete(item.key)
    const before = this.#poolOf.get(item.key)
    if (before !== undefined && before !== pool) this.#queues.get(before)?.remove(item.key)
    this.#queueOf(pool).add(item)
    this.#poolOf.set(item.key, pool)
    this.wake(pool)
  }

  /** Removes a Screenshot from the queue and releases its runner. */
  drop(key: string): void {
    const pool = this.#poolOf.get(key)
    if (pool === undefined) return
    this.#poolOf.delete(key)
    this.#reserved.delete(key)
    this.#queues.get(pool)?.remove(key)
    this.#options.runners.release(key, this.#options.now())
    this.wake(pool)
  }

  /**
   * Charges an account for the time that a capture used its runner, as far as its units do not stand for it. Accounts with slow pages would otherwise
   * have most of the runner time.
   */
  chargeTime(pool: string, { account, units }: { account: string; units: number }, milliseconds: number): void {
    const more = milliseconds / MILLISECONDS_PER_UNIT - units
    if (more > 0) this.#queueOf(pool).charge(account, more)
  }

  /** Number of queued Screenshots. */
  queued(pool: string): number {
    return this.#queues.get(pool)?.size ?? 0
  }

  /** Number of queued Screenshots of each account that is at its limit. More runners would not help them. */
  heldBack(pool: string): ReadonlyMap<string, number> {
    const queue = this.#queues.get(pool)
    const counts = queue?.accounts().map((account) => [account, queue.countOf(account) - this.#roomOf(account)] as const)
    return new Map(counts?.filter(([, count]) => count > 0))
  }

  accountsWaiting(pool: string): string[] {
    return this.#queues.get(pool)?.accounts() ?? []
  }

  wakeAll(): void {
    for (const pool of this.#queues.keys()) this.wake(pool)
  }

  /** Assigns idle runners of a pool to queued Screenshots in fair order. */
  wake(pool: string): void {
    const { runners, pools, namespace, now, isOpen, onAssigned } = this.#options
    const queue = this.#queues.get(pool)
    const spec = pools.get(`${namespace}/${pool}`)?.spec
    if (!queue || queue.size === 0 || !spec || !isOpen()) return
    let idle = runners.idle(pool, spec, now())
    if (idle.length === 0) return
    const { maxPods } = poolLimitsOf(spec)
    let free = runners.freeIn(pool, maxPods)
    while (idle.length > 0) {
      const isLast = free <= 1 && maxPods > 1
      const item = queue.take(
        (account) =>
          this.#roomOf(account) > 0 &&
          !(isLast && this.#leavesLast(account, pool, queue)) &&
          idle.some((runner) => mayServe(runner, account)),
        (account) => idle.some(({ accountName }) => accountName === account),
      )
      const runner = item && chooseRunner(idle, item.account)
      if (!runner) return
      runners.reserve(runner.uid, item.key)
      this.#reserved.set(item.key, item.account)
      idle = idle.filter(({ uid }) => uid !== runner.uid)
      free--
      if (!isLast) this.#movedAt.set(pool, now())
      onAssigned(item.key)
    }
  }

  /** Number of captures that an account may start now. */
  #roomOf(account: string): number {
    const limit = this.#options.limitsOf?.(account).maxRunning
    return limit === undefined ? Number.POSITIVE_INFINITY : Math.max(0, limit - this.#heldBy(account))
  }

  /**
   * True for an account that must leave the last runner of a pool to others. Captures that take minutes would otherwise use all runners. While the
   * other runners move, the last one keeps to the weights: it does not serve accounts that have had their share.
   */
  #leavesLast(account: string, pool: string, queue: FairQueue): boolean {
    const { limitsOf, now } = this.#options
    if (limitsOf?.(account).hasOthers !== true) return false
    if (this.#heldBy(account) > 0) return true
    const isMoving = now() - (this.#movedAt.get(pool) ?? 0) < MOVING_MILLISECONDS
    if (!isMoving || !queue.isAhead(account)) return false
    this.#wakeLater(pool)
    return true
  }

  /** Without another event, an account that waits for the others to move would wait forever. */
  #wakeLater(pool: string): void {
    if (this.#timers.has(pool)) return
    const wake = () => {
      this.#timers.delete(pool)
      this.wake(pool)
    }
    this.#timers.set(pool, setTimeout(wake, MOVING_MILLISECONDS).unref())
  }

  /** Number of runners that work for an account or are reserved for it, in all pools. */
  #heldBy(account: string): number {
    const reserved = [...this.#reserved.values()].filter((other) => other === account).length
    return reserved + (this.#options.runningOf?.(account) ?? 0)
  }

  #queueOf(pool: string): FairQueue {
    let queue = this.#queues.get(pool)
    if (!queue) {
      queue = new FairQueue((account) => this.#options.limitsOf?.(account).weight ?? 1)
      this.#queues.set(pool, queue)
    }
    return queue
  }
}

/** Weight of an account in the fair queue, and its limit of concurrent captures. */
export interface AccountLimits {
  weight: number
  /** Concurrent captures in all pools; absent: no limit. */
  maxRunning?: number | undefined
  /** True while the release has other accounts: the last runner of a pool is kept for accounts that run nothing. */
  hasOthers?: boolean
}

/** Limits for Screenshots whose Account does not exist. They have the smallest weight, and the pending controller fails them. */
const NO_ACCOUNT: AccountLimits = { weight: 1 }

/**
 * Returns the limits of each account according to its plan. The `maxRunning` of plans protects other accounts, so it does not limit the only account
 * of a release.
 * @param crashLimitOf lower limit of concurrent captures for an account that crashed runners; undefined: the limit of the plan
 */
export function accountLimits(
  accounts: Pick<Lister<Account>, 'get' | 'size'>,
  plans: Plans,
  namespace: string,
  crashLimitOf: (account: string) => number | undefined = () => undefined,
): (account: string) => AccountLimits {
  return (name) => {
    const account = accounts.get(`${namespace}/${name}`)
    const { weight, maxRunning }: AccountLimits = account ? limitsOfPlan(plans, account.spec.plan) : NO_ACCOUNT
    const hasOthers = accounts.size > 1
    const limit = hasOthers ? maxRunning : undefined
    const crashLimit = crashLimitOf(name)
    // Called for every comparison in the queue.
    return { weight, hasOthers, maxRunning: crashLimit === undefined ? limit : Math.min(crashLimit, limit ?? crashLimit) }
  }
}

/** The pool that captures a Screenshot ({@link poolOf}), with the pool of its account's plan. */
export function poolsOf(
  accounts: Pick<Lister<Account>, 'get'>,
  plans: Plans,
  namespace: string,
): (shot: Pick<Screenshot, 'metadata' | 'spec'>) => string {
  return ({ spec }) => {
    const plan = accounts.get(`${namespace}/${accountOf({ spec })}`)?.spec.plan
    return poolOf(spec, plan === undefined ? undefined : findPlan(plans, plan)?.poolName)
  }
}

/** False for a video in a pool that records none. */
export const canRecordIn = ({ spec }: Pick<Screenshot, 'spec'>, pool: Pick<RunnerPool, 'spec'>): boolean =>
  !isMoving(spec.options?.format) || pool.spec.video === true
