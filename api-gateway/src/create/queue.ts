import type { Account } from '@tintype/crds/kinds/account'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Plans } from '@tintype/crds/plans'
import { ApiError } from '../errors.ts'
import type { QueueView } from '../store/ports.ts'
import {
  findQueueFullReason,
  type QueueBounds,
  type QueueFacts,
  queuePosition,
  retrySeconds,
  toEstimatedTime,
} from '../translate/screenshots/queue-rules.ts'

// The queue as a gateway sees it: the Screenshots in its copy that wait, and those that it is about to create. Each replica counts for itself,
// so that a bound is passed by no more than what the other replicas create in the moment until the watch tells of it.

export interface QueueOptions {
  view: QueueView
  bounds: QueueBounds
  plans: Plans
  /** From the copy in memory. */
  findAccount: (name: string) => Account | undefined
}

/** Gives back the room that was kept: all of them are in the copy by then, or will not be created. */
export type ReleaseSlots = () => void

/** See the head of this file. */
export class Queue {
  readonly #options: QueueOptions
  /** Ids of Screenshots about to be created, with their accounts. One that is in the copy already is counted there. */
  readonly #entering = new Map<string, string>()

  constructor(options: QueueOptions) {
    this.#options = options
  }

  /** @throws ApiError QUEUE_FULL when so many more of an account must not wait */
  check(account: Account, count: number): void {
    const { view, bounds } = this.#options
    const { own, total } = this.#countWaiting(account.metadata.name)
    const maxQueuedPerAccount = this.#limitOf(account)
    const reason = view.isBacklogged()
      ? 'too many finished screenshots wait to be archived'
      : findQueueFullReason(count, { total, own }, { ...bounds, maxQueuedPerAccount })
    if (reason === undefined) return
    throw new ApiError('QUEUE_FULL', reason, { headers: { 'retry-after': String(retrySeconds(count, this.#facts(account))) } })
  }

  /** Keeps room for Screenshots of these ids. @throws ApiError QUEUE_FULL */
  enter(account: Account, ids: readonly string[]): ReleaseSlots {
    this.check(account, ids.length)
    for (const id of ids) this.#entering.set(id, account.metadata.name)
    return () => {
      for (const id of ids) this.#entering.delete(id)
    }
  }

  /** The range text of spec 2.1 for so many that are asked for now. */
  estimate(account: Account, count: number): string {
    return toEstimatedTime(count, this.#facts(account))
  }

  /** The place of a Screenshot that waits, 1 for the next; undefined when it does not. */
  positionOf(screenshot: Screenshot, account: Account): number | undefined {
    const ahead = this.#options.view.countAhead(screenshot)
    return ahead === undefined ? undefined : queuePosition(ahead, this.#facts(account))
  }

  #facts({ metadata: { name }, spec }: Account): QueueFacts {
    const { view, plans } = this.#options
    const others = view.accounts().filter((other) => other !== name)
    return {
      own: this.#countWaiting(name).own,
      weight: plans[spec.plan].weight,
      maxRunning: plans[spec.plan].maxRunning,
      others: others.map((other) => ({ waiting: view.waitingOf(other), weight: this.#weightOf(other) })),
      running: view.running,
      meanCaptureMilliseconds: view.meanCaptureMilliseconds,
    }
  }

  #weightOf(name: string): number {
    const account = this.#options.findAccount(name)
    return account ? this.#options.plans[account.spec.plan].weight : 1
  }

  #limitOf({ spec }: Account): number {
    return this.#options.plans[spec.plan].maxQueued ?? this.#options.bounds.maxQueuedPerAccount
  }

  /**
   * What an account adds to the queue of all. kubectl may pass its limit for a moment, and name accounts that do not exist: the operator ends that,
   * and nobody else is to wait for it.
   */
  #countedOf(name: string): number {
    const account = this.#options.findAccount(name)
    return account ? Math.min(this.#options.view.waitingOf(name), this.#limitOf(account)) : 0
  }

  /** What waits or is about to, of the account and in all. */
  #countWaiting(account: string): { own: number; total: number } {
    const { view } = this.#options
    let own = view.waitingOf(account)
    let total = view.accounts().reduce((sum, name) => sum + this.#countedOf(name), 0)
    for (const [id, owner] of this.#entering) {
      // From here on the copy counts it, and nobody need look for it again.
      if (view.has(id)) {
        this.#entering.delete(id)
        continue
      }
      total++
      if (owner === account) own++
    }
    return { own, total }
  }
}
