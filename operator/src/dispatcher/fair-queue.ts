/**
 * Start-time fair queueing (Goyal, Vin and Cheng, 1996): each account is a flow with a virtual start time, the flow that is furthest
 * behind is served next, and time is the start of what was served last. A capture moves its flow on by one part in the account's weight: twice
 * the weight is twice the captures while both wait. A batch of a hundred delays another account's single screenshot by one capture. In memory
 * only: it is rebuilt from the objects.
 *
 * No two accounts share a browser, and starting one costs as much as a capture. So accounts with queues take turns of a few captures in the
 * browser that is open; an account with a single Screenshot never waits for such a turn to end. Who weighs less than the others on an average has
 * shorter turns: four captures of a free plan are what a plan of eight times its weight waits thirty-two for.
 */

/** One Screenshot that waits. Within its account the smaller `order` goes first. */
export interface Waiting {
  key: string
  account: string
  order: number
}

/** Captures of a turn, at most. */
export const TURN = 4

interface Flow {
  account: string
  /** Ascending by order. */
  waiting: Waiting[]
  start: number
}

/** Share of an account beside others that wait; above 0. It may change at any time. */
export type WeightOf = (account: string) => number

/** See the head of this file. */
export class FairQueue {
  readonly #weightOf: WeightOf
  readonly #flows = new Map<string, Flow>()
  readonly #waiting = new Map<string, Waiting>()
  /** Where accounts that have nothing waiting may begin again, if that is ahead of the time. */
  readonly #finishes = new Map<string, number>()
  #now = 0

  /** @param weightOf absent: all accounts weigh the same */
  constructor(weightOf: WeightOf = () => 1) {
    this.#weightOf = weightOf
  }

  get size(): number {
    return this.#waiting.size
  }

  has(key: string): boolean {
    return this.#waiting.has(key)
  }

  /** How many Screenshots of an account wait. */
  countOf(account: string): number {
    return this.#flows.get(account)?.waiting.length ?? 0
  }

  /** Accounts that have something waiting. */
  accounts(): string[] {
    return [...this.#flows.keys()]
  }

  /** Adds a Screenshot; one that waits already stays where it is. */
  add(item: Waiting): void {
    if (this.#waiting.has(item.key)) return
    this.#waiting.set(item.key, item)
    const flow = this.#flows.get(item.account) ?? this.#open(item.account)
    flow.waiting.splice(
      placeOf(flow.waiting, (order) => order > item.order),
      0,
      item,
    )
  }

  /** Takes a Screenshot out wherever it stands. */
  remove(key: string): void {
    const item = this.#waiting.get(key)
    if (!item) return
    this.#waiting.delete(key)
    const flow = this.#flows.get(item.account)
    if (!flow) return
    flow.waiting.splice(
      flow.waiting.indexOf(
        item,
        placeOf(flow.waiting, (order) => order >= item.order),
      ),
      1,
    )
    if (flow.waiting.length === 0) this.#close(flow, flow.start)
  }

  /**
   * Takes the next Screenshot of the accounts that can be served.
   * @param isWarm accounts for which a browser is open: among those with a queue they may be a few captures ahead
   */
  take(canServe: (account: string) => boolean = () => true, isWarm: (account: string) => boolean = () => false): Waiting | undefined {
    const fairest = this.#first(({ account }) => canServe(account))
    if (!fairest) return undefined
    const next = this.#turnOf(canServe, isWarm, fairest) ?? fairest
    const item = next.waiting.shift()
    if (!item) return undefined
    this.#waiting.delete(item.key)
    this.#now = Math.max(this.#now, fairest.start)
    next.start += 1 / this.#weightOf(next.account)
    if (next.waiting.length === 0) this.#close(next, next.start)
    return item
  }

  /** The account whose turn goes on. */
  #turnOf(canServe: (account: string) => boolean, isWarm: (account: string) => boolean, fairest: Flow): Flow | undefined {
    const warm = this.#first(({ account }) => isWarm(account) && canServe(account))
    if (!warm || (warm.start - fairest.start) * Math.max(this.#weightOf(warm.account), this.#meanWeight()) >= TURN) return undefined
    const single = this.#first(({ account, waiting }) => waiting.length === 1 && canServe(account))
    return single && single.start < warm.start ? undefined : warm
  }

  #meanWeight(): number {
    return this.#flows.values().reduce((sum, { account }) => sum + this.#weightOf(account), 0) / this.#flows.size
  }

  /** Of the accounts that qualify the one that is furthest behind. */
  #first(qualifies: (flow: Flow) => boolean): Flow | undefined {
    let first: Flow | undefined
    for (const flow of this.#flows.values()) {
      if (first && compare(flow, first) >= 0) continue
      if (qualifies(flow)) first = flow
    }
    return first
  }

  #open(account: string): Flow {
    const flow = { account, waiting: [], start: Math.max(this.#now, this.#finishes.get(account) ?? 0) }
    this.#finishes.delete(account)
    this.#flows.set(account, flow)
    return flow
  }

  #close({ account }: Flow, finish: number): void {
    this.#flows.delete(account)
    this.#finishes.set(account, finish)
    // What lies behind the time says nothing any more.
    for (const [other, at] of this.#finishes) if (at <= this.#now) this.#finishes.delete(other)
  }
}

const compare = (a: Flow, b: Flow): number => a.start - b.start || (a.waiting[0]?.order ?? 0) - (b.waiting[0]?.order ?? 0)

/** The first place whose order satisfies `isBeyond`, which is false up to there and true from there on. */
function placeOf(waiting: readonly Waiting[], isBeyond: (order: number) => boolean): number {
  let low = 0
  let high = waiting.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBeyond(waiting[middle]?.order ?? 0)) high = middle
    else low = middle + 1
  }
  return low
}
