import type { Account } from '@tintype/crds/kinds/account'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { EventSubject } from '@tintype/crds/schema/event-types'
import { findPlan, limitsOfPlan, type Plans } from '@tintype/crds/usage/plans'
import { eventSubjectOf } from '@tintype/crds/webhooks/events'
import { ApiError, unavailable } from '../common/errors.ts'
import type { QueueView } from '../store/ports.ts'
import { findQueueFullReason, type QueueBounds, type QueueFacts, queuePosition, retrySeconds, toEstimatedTime } from './queue-rules.ts'

// The queue as this replica sees it: queued Screenshots in the informer cache and those that the replica is about to create. Each replica counts
// for itself. A limit can be exceeded only by what other replicas create before the watch delivers it.

export interface QueueOptions {
  view: QueueView
  bounds: QueueBounds
  plans: Plans
  /** From the informer cache. */
  findAccount: (name: string) => Account | undefined
}

/** Releases reserved slots. Call it when all Screenshots are in the informer cache or will not be created. */
export type ReleaseSlots = () => void

/** Enforces queue limits and computes queue positions. */
export class Queue {
  readonly #options: QueueOptions
  /** Screenshots that are about to be created, by id. A Screenshot in the informer cache is not counted twice. */
  readonly #entering = new Map<string, { owner: string; subject: EventSubject }>()

  constructor(options: QueueOptions) {
    this.#options = options
  }

  /** @throws ApiError QUEUE_FULL when the account or the queue has no room for `count` more; SERVICE_UNAVAILABLE when its plan is not defined */
  check(account: Account, count: number): void {
    const { view, bounds, plans } = this.#options
    const { plan } = account.spec
    if (!findPlan(plans, plan)) throw unavailable(`plan ${plan} of the account is not defined: contact the administrator of this service`)
    const { own, total } = this.#countWaiting(account.metadata.name)
    const maxQueuedPerAccount = this.#limitOf(account)
    const reason = view.isBacklogged()
      ? 'too many finished screenshots are waiting to be archived'
      : findQueueFullReason(count, { total, own }, { ...bounds, maxQueuedPerAccount })
    if (reason === undefined) return
    throw new ApiError('QUEUE_FULL', reason, {
      headers: { 'retry-after': String(retrySeconds(count, this.#facts(account, 'screenshot'))) },
    })
  }

  /** Reserves slots for Screenshots with these ids. @throws ApiError QUEUE_FULL */
  enter(account: Account, ids: readonly string[], subject: EventSubject = 'screenshot'): ReleaseSlots {
    this.check(account, ids.length)
    for (const id of ids) this.#entering.set(id, { owner: account.metadata.name, subject })
    return () => {
      for (const id of ids) this.#entering.delete(id)
    }
  }

  /** Estimated time for `count` new screenshots or videos, such as `10-60s`. */
  estimate(account: Account, count: number, subject: EventSubject = 'screenshot'): string {
    return toEstimatedTime(count, this.#facts(account, subject))
  }

  /** Queue position of a Screenshot among screenshots or among videos, 1 for the next one. Undefined when it is not queued. */
  positionOf(screenshot: Screenshot, account: Account): number | undefined {
    const ahead = this.#options.view.countAhead(screenshot)
    return ahead === undefined ? undefined : queuePosition(ahead, this.#facts(account, eventSubjectOf(screenshot)))
  }

  #facts({ metadata: { name }, spec }: Account, subject: EventSubject): QueueFacts {
    const { plans } = this.#options
    const queue = this.#options.view.of(subject)
    const others = queue.accounts().filter((other) => other !== name)
    return {
      own: queue.waitingOf(name) + this.#enteringOf(name, subject),
      weight: limitsOfPlan(plans, spec.plan).weight,
      maxRunning: limitsOfPlan(plans, spec.plan).maxRunning,
      others: others.map((other) => ({ waiting: queue.waitingOf(other), weight: this.#weightOf(other) })),
      running: queue.running,
      meanCaptureMilliseconds: queue.meanCaptureMilliseconds,
    }
  }

  #enteringOf(account: string, wanted: EventSubject): number {
    return [...this.#entering].filter(([id, { owner, subject }]) => owner === account && subject === wanted && !this.#options.view.has(id))
      .length
  }

  #weightOf(name: string): number {
    const account = this.#options.findAccount(name)
    return account ? limitsOfPlan(this.#options.plans, account.spec.plan).weight : 1
  }

  #limitOf({ spec }: Account): number {
    return limitsOfPlan(this.#options.plans, spec.plan).maxQueued ?? this.#options.bounds.maxQueuedPerAccount
  }

  /**
   * An account's share of the total queue length. With kubectl a user can exceed the limit for a moment or name a missing account. The operator
   * fails such Screenshots, so they must not block other accounts.
   */
  #countedOf(name: string): number {
    const account = this.#options.findAccount(name)
    return account ? Math.min(this.#options.view.waitingOf(name), this.#limitOf(account)) : 0
  }

  /** Queued and about to be queued, for the account and in total. */
  #countWaiting(account: string): { own: number; total: number } {
    const { view } = this.#options
    let own = view.waitingOf(account)
    let total = view.accounts().reduce((sum, name) => sum + this.#countedOf(name), 0)
    for (const [id, { owner }] of this.#entering) {
      // The informer cache counts it from now on.
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
