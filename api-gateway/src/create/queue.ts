import type { Account } from '@tintype/crds/kinds/account'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Plans } from '@tintype/crds/plans'
import { ApiError } from '../errors.ts'
import type { QueueView } from '../store/ports.ts'
import { findFull, placeInQueue, type QueueBounds, type QueueFacts, retrySeconds, toEstimatedTime } from '../translate/queue-rules.ts'

// The queue as a gateway sees it: the Screenshots in its copy that wait, and those that it is about to create. Each replica counts for itself,
// so that a bound is passed by no more than what the other replicas create in the moment until the watch tells of it.

export interface QueueOptions {
  view: QueueView
  bounds: QueueBounds
  plans: Plans
  /** From the copy in memory. */
  findAccount: (name: string) => Account | undefined
}

/** Room that is kept for Screenshots until they are in the copy, or will not be created. */
export interface Place {
  /** Gives the room of one back. */
  leaveOne: () => void
  /** Gives back what is left. */
  leave: () => void
}

/** See the head of this file. */
export class Queue {
  readonly #options: QueueOptions
  /** Screenshots about to be created, by account. */
  readonly #entering = new Map<string, number>()

  constructor(options: QueueOptions) {
    this.#options = options
  }

  /** @throws ApiError QUEUE_FULL when so many more of an account must not wait */
  check(account: Account, count: number): void {
    const { view, bounds, plans } = this.#options
    const own = this.#waitingOf(account.metadata.name)
    const maxQueuedPerAccount = plans[account.spec.plan].maxQueued ?? bounds.maxQueuedPerAccount
    const total = view.total + this.#sumEntering()
    const fault = view.isBacklogged()
      ? 'too much waits to be archived'
      : findFull(count, { total, own }, { ...bounds, maxQueuedPerAccount })
    if (fault === undefined) return
    throw new ApiError('QUEUE_FULL', fault, { headers: { 'retry-after': String(retrySeconds(count, this.#facts(account))) } })
  }

  /** Keeps room for so many. @throws ApiError QUEUE_FULL */
  enter(account: Account, count: number): Place {
    this.check(account, count)
    const { name } = account.metadata
    let kept = 0
    const add = (change: number): void => {
      kept += change
      const now = (this.#entering.get(name) ?? 0) + change
      if (now > 0) this.#entering.set(name, now)
      else this.#entering.delete(name)
    }
    add(count)
    return { leaveOne: () => (kept > 0 ? add(-1) : undefined), leave: () => add(-kept) }
  }

  /** The range text of spec 2.1 for so many that are asked for now. */
  estimate(account: Account, count: number): string {
    return toEstimatedTime(count, this.#facts(account))
  }

  /** The place of a Screenshot that waits, 1 for the next; undefined when it does not. */
  placeOf(screenshot: Screenshot, account: Account): number | undefined {
    const ahead = this.#options.view.countAhead(screenshot)
    return ahead === undefined ? undefined : placeInQueue(ahead, this.#facts(account))
  }

  #facts({ metadata: { name }, spec }: Account): QueueFacts {
    const { view, plans } = this.#options
    const others = view.accounts().filter((other) => other !== name)
    return {
      own: this.#waitingOf(name),
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

  #waitingOf(account: string): number {
    return this.#options.view.waitingOf(account) + (this.#entering.get(account) ?? 0)
  }

  #sumEntering(): number {
    return [...this.#entering.values()].reduce((sum, count) => sum + count, 0)
  }
}
