/**
 * Start-time fair queueing (Goyal, Vin and Cheng, 1996). Each account is a flow with a virtual start time. The flow with the smallest virtual
 * start time is served next, and the virtual time is that of the flow served last. A capture advances its flow by its units of quota / weight,
 * so an account with twice the weight gets twice the captures while both wait, and a long video counts like several short ones. A capture that
 * uses its runner for longer than its units stand for is charged for the rest when it ends. A batch of a hundred delays another account's single
 * screenshot by one capture. Kept in memory: it is rebuilt from the objects.
 *
 * Accounts do not share browsers, and starting a browser costs as much as a capture. So an account with a queue may keep the open browser for
 * a quantum of a few captures. An account with a single Screenshot never waits for a quantum to end. Accounts that weigh less than the mean
 * get a shorter quantum, so that they do not delay heavier accounts for long.
 */
import { findFirst } from '@tintype/crds/runtime/lists'

/** A queued Screenshot. Within its account the smaller `order` is served first. */
export interface QueuedItem {
  key: string
  account: string
  order: number
  /** Units of quota, as a measure of its length. Default: 1. */
  units?: number
}

/** Captures that an account may be ahead of the fairest one to keep its open browser. */
export const QUANTUM = 4

/** Units by which {@link FairQueue.charge} may put an account ahead of the virtual time. The rest is forgiven. */
export const MAX_DEBT = 32

interface Flow {
  account: string
  /** Ascending by order. */
  waiting: QueuedItem[]
  virtualStart: number
}

/** Weight of an account, greater than 0. It may change at any time. */
export type WeightOf = (account: string) => number

export class FairQueue {
  readonly #weightOf: WeightOf
  readonly #flows = new Map<string, Flow>()
  readonly #waiting = new Map<string, QueuedItem>()
  /** Virtual finish times of accounts without queued Screenshots that are later than the virtual time. */
  readonly #virtualFinishes = new Map<string, number>()
  #virtualTime = 0

  /** @param weightOf default: all accounts have the same weight */
  constructor(weightOf: WeightOf = () => 1) {
    this.#weightOf = weightOf
  }

  get size(): number {
    return this.#waiting.size
  }

  has(key: string): boolean {
    return this.#waiting.has(key)
  }

  /** Number of queued Screenshots of an account. */
  countOf(account: string): number {
    return this.#flows.get(account)?.waiting.length ?? 0
  }

  /** True for an account with queued Screenshots that has had more than its share. */
  isAhead(account: string): boolean {
    return (this.#flows.get(account)?.virtualStart ?? 0) > this.#virtualTime
  }

  /** Accounts that have queued Screenshots. */
  accounts(): string[] {
    return [...this.#flows.keys()]
  }

  /** Adds a Screenshot. One that is queued already keeps its place. */
  add(item: QueuedItem): void {
    if (this.#waiting.has(item.key)) return
    this.#waiting.set(item.key, item)
    const flow = this.#flows.get(item.account) ?? this.#open(item.account)
    flow.waiting.splice(
      findFirst(flow.waiting, ({ order }) => order > item.order),
      0,
      item,
    )
  }

  /** Removes a Screenshot from any place in the queue. */
  remove(key: string): void {
    const item = this.#waiting.get(key)
    if (!item) return
    this.#waiting.delete(key)
    const flow = this.#flows.get(item.account)
    if (!flow) return
    flow.waiting.splice(
      flow.waiting.indexOf(
        item,
        findFirst(flow.waiting, ({ order }) => order >= item.order),
      ),
      1,
    )
    if (flow.waiting.length === 0) this.#close(flow, flow.virtualStart)
  }

  /**
   * Takes the next Screenshot of the accounts that can be served.
   * @param isWarm true for accounts that have an open browser: they may get ahead by a quantum
   */
  take(canServe: (account: string) => boolean = () => true, isWarm: (account: string) => boolean = () => false): QueuedItem | undefined {
    const fairest = this.#first(({ account }) => canServe(account))
    if (!fairest) return undefined
    const next = this.#continued(canServe, isWarm, fairest) ?? fairest
    const item = next.waiting.shift()
    if (!item) return undefined
    this.#waiting.delete(item.key)
    this.#virtualTime = Math.max(this.#virtualTime, fairest.virtualStart)
    next.virtualStart += (item.units ?? 1) / this.#weightOf(next.account)
    if (next.waiting.length === 0) this.#close(next, next.virtualStart)
    return item
  }

  /** Advances an account by more units, up to a debt of {@link MAX_DEBT} units. */
  charge(account: string, units: number): void {
    const flow = this.#flows.get(account)
    const start = flow?.virtualStart ?? Math.max(this.#virtualTime, this.#virtualFinishes.get(account) ?? 0)
    const weight = this.#weightOf(account)
    const charged = Math.max(start, Math.min(start + units / weight, this.#virtualTime + MAX_DEBT / weight))
    if (flow) flow.virtualStart = charged
    else this.#virtualFinishes.set(account, charged)
  }

  /** The flow that keeps the open browser, if any. */
  #continued(canServe: (account: string) => boolean, isWarm: (account: string) => boolean, fairest: Flow): Flow | undefined {
    const warm = this.#first(({ account }) => isWarm(account) && canServe(account))
    if (!warm || (warm.virtualStart - fairest.virtualStart) * Math.max(this.#weightOf(warm.account), this.#meanWeight()) >= QUANTUM)
      return undefined
    const single = this.#first(({ account, waiting }) => waiting.length === 1 && canServe(account))
    return single && single.virtualStart < warm.virtualStart ? undefined : warm
  }

  #meanWeight(): number {
    return this.#flows.values().reduce((sum, { account }) => sum + this.#weightOf(account), 0) / this.#flows.size
  }

  /** Of the flows that qualify, the one with the smallest virtual start time. */
  #first(qualifies: (flow: Flow) => boolean): Flow | undefined {
    let first: Flow | undefined
    for (const flow of this.#flows.values()) {
      if (first && compare(flow, first) >= 0) continue
      if (qualifies(flow)) first = flow
    }
    return first
  }

  #open(account: string): Flow {
    const flow = { account, waiting: [], virtualStart: Math.max(this.#virtualTime, this.#virtualFinishes.get(account) ?? 0) }
    this.#virtualFinishes.delete(account)
    this.#flows.set(account, flow)
    return flow
  }

  #close({ account }: Flow, finish: number): void {
    this.#flows.delete(account)
    this.#virtualFinishes.set(account, finish)
    // Finish times before the virtual time no longer matter.
    for (const [other, at] of this.#virtualFinishes) if (at <= this.#virtualTime) this.#virtualFinishes.delete(other)
  }
}

const compare = (a: Flow, b: Flow): number => a.virtualStart - b.virtualStart || (a.waiting[0]?.order ?? 0) - (b.waiting[0]?.order ?? 0)
