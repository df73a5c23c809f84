import { setTimeout as sleep } from 'node:timers/promises'
import { isConflict, isNotFound, isTransient } from '@tintype/crds/client/kube-error'
import type { AccountUsage } from '@tintype/crds/kinds/account'
import { doubled, retry } from '@tintype/crds/runtime/retry'
import { type Outcome, UsageDraft, type Wanted } from '@tintype/crds/usage/usage'
import { ApiError } from '../common/errors.ts'
import type { QuotaMetrics } from '../metrics/metrics.ts'

// Group commit for one account: one update runs at a time, and requests that arrive meanwhile are batched into the next one. A burst costs a
// few writes, and a replica never conflicts with itself. Every step is idempotent: after a conflict or an unknown outcome the ledger reads the
// newest state and evaluates all requests again. A reservation that it finds there was written by its own earlier attempt.

/** The AccountUsage of one account. */
export interface UsageStore {
  /** From the informer cache; undefined when the object is missing or the operator has not initialized it. */
  cached: () => AccountUsage | undefined
  /** From the API server. @throws ApiError SERVICE_UNAVAILABLE when there is none */
  read: () => Promise<AccountUsage>
  /** Replaces the status if the object still has the version that was read. Returns the new object. */
  write: (usage: AccountUsage) => Promise<AccountUsage>
}

interface QuotaLedgerOptions {
  store: UsageStore
  /** Name of this process in reservations. */
  holder: string
  now: () => Date
  random: () => number
  metrics: QuotaMetrics
}

interface Waiter {
  id: string
  names: readonly string[]
  apply: (draft: UsageDraft) => Outcome
  resolve: (outcome: Outcome) => void
  reject: (error: unknown) => void
}

interface Updated {
  outcomes: Outcome[]
  /** False when nothing had to be written. */
  isWritten: boolean
}

/** Under contention the time limit applies first. The number of attempts bounds updates that fail immediately. */
const MAX_ATTEMPTS = 20
const MAX_MILLISECONDS = 8_000
/** Requests in one update. Bounds the size of the object. */
const MAX_WAITERS = 100
/** Settled reservations that are collected before the ledger writes an update only for them. */
const MANY_DROPS = 100
const FIRST_DELAY_MILLISECONDS = 4
const MAX_DELAY_MILLISECONDS = 500
const CLEAN_UP_MILLISECONDS = 2_000

/** Reserves and refunds quota of one account. */
export class QuotaLedger {
  readonly #options: QuotaLedgerOptions
  readonly #waiting: Waiter[] = []
  /** Settled reservations, which the next update removes. */
  readonly #dropping = new Set<string>()
  /** Names of reservations whose caller received an error, although the write may have succeeded. */
  readonly #abandoned = new Map<string, readonly string[]>()
  /** Reservations in use by callers in this process. A failed repetition must not refund them. */
  readonly #held = new Set<string>()
  readonly #roundRobin: WriteRoundRobin
  /** Resource version of this process's last write. */
  #ownVersion: string | undefined
  #running: Promise<void> | undefined
  /** Ends the current wait, because the delay may have become shorter. */
  #lookAgain: (() => void) | undefined
  #cleanUp: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: QuotaLedgerOptions) {
    this.#options = options
    this.#roundRobin = new WriteRoundRobin(options.random)
  }

  /** @throws ApiError SERVICE_UNAVAILABLE, and then nothing stays charged */
  reserve(wanted: Omit<Wanted, 'gateway'>): Promise<Outcome> {
    // The caller repeats a request that failed, so its reservation must not be refunded.
    this.#abandoned.delete(wanted.id)
    return this.#ask(wanted, (draft) => draft.reserve({ ...wanted, gateway: this.#options.holder }))
  }

  async release(id: string, names: readonly string[]): Promise<void> {
    this.#held.delete(id)
    await this.#ask({ id, names }, (draft) => {
      draft.release(id, names, this.#options.holder)
      return { granted: 0 }
    })
  }

  /** Call when the object has changed. */
  noteChange(usage: AccountUsage): void {
    const writer = writerOf(usage)
    if (writer === undefined || writer === this.#options.holder) return
    this.#roundRobin.noteWriterProgress(performance.now(), writer)
    this.#lookAgain?.()
  }

  /** Removes a settled reservation with the next update. */
  drop(id: string): void {
    this.#held.delete(id)
    this.#dropping.add(id)
    if (this.#dropping.size >= MANY_DROPS) this.#wake()
  }

  /** Writes pending removals and refunds. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#cleanUp)
    await this.#running
    if (this.#dropping.size + this.#abandoned.size > 0) await this.#commit([], 1)
  }

  #ask({ id, names }: Pick<Waiter, 'id' | 'names'>, apply: Waiter['apply']): Promise<Outcome> {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
    this.#waiting.push({ id, names, apply, resolve, reject })
    this.#wake()
    return promise
  }

  /** @param worthWriting number of changes without waiters that justify an update */
  #wake(worthWriting = MANY_DROPS): void {
    this.#running ??= this.#run(worthWriting).finally(() => {
      this.#running = undefined
      // Requests may have arrived while the last update completed.
      if (this.#waiting.length > 0) this.#wake()
    })
  }

  async #run(worthWriting: number): Promise<void> {
    do {
      if (this.#roundRobin.delay(performance.now()) > 0) await this.#waitUntilNextWrite()
      await this.#commit(this.#waiting.splice(0, MAX_WAITERS), worthWriting)
    } while (this.#waiting.length > 0)
  }

  async #waitUntilNextWrite(): Promise<void> {
    for (let wait = this.#roundRobin.delay(performance.now()); wait > 0; wait = this.#roundRobin.delay(performance.now())) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, wait)
      this.#lookAgain = resolve
      await promise
      clearTimeout(timer)
    }
    this.#lookAgain = undefined
  }

  async #commit(waiters: readonly Waiter[], worthWriting: number): Promise<void> {
    try {
      const outcomes = await this.#swap(waiters, worthWriting)
      waiters.forEach(({ id, resolve }, index) => {
        if (outcomes[index]!.granted > 0) this.#held.add(id)
        resolve(outcomes[index]!)
      })
    } catch (error) {
      for (const { id, names, reject } of waiters) {
        if (!this.#held.has(id)) this.#abandoned.set(id, names)
        reject(error)
      }
      this.#scheduleCleanUp()
    }
  }

  async #swap(waiters: readonly Waiter[], worthWriting: number): Promise<Outcome[]> {
    const { store, metrics, random } = this.#options
    const until = performance.now() + MAX_MILLISECONDS
    const update = async (attempt: number): Promise<Outcome[]> => {
      const cached = attempt === 1 ? store.cached() : undefined
      const { outcomes, isWritten } = await this.#update(cached ?? (await store.read()), waiters, worthWriting)
      if (isWritten) metrics.onCommit(waiters.length)
      return outcomes
    }
    const delayOf = (error: unknown, attempt: number): number | undefined => {
      if (isConflict(error)) this.#noteConflict()
      else if (!isTransient(error) && !isNotFound(error)) return undefined
      if (attempt === MAX_ATTEMPTS || performance.now() > until) throw tooBusy(error)
      // The replica that won waits before its next write, so the first retry after a conflict needs no delay.
      if (attempt === 1 && isConflict(error)) return 0
      return doubled(FIRST_DELAY_MILLISECONDS, MAX_DELAY_MILLISECONDS, attempt + 1) * random()
    }
    return retry(update, { delayOf, wait: sleep })
  }

  /** Evaluates the requests against one state and writes the result. @throws KubeError */
  async #update(usage: AccountUsage, waiters: readonly Waiter[], worthWriting: number): Promise<Updated> {
    const { store, now, holder } = this.#options
    const draft = new UsageDraft(usage, now())
    const { drops, abandoned } = this.#tidy(draft)
    const tidied = draft.changes
    const outcomes = waiters.map(({ apply }) => apply(draft))
    if (draft.changes === tidied && tidied < worthWriting) return { outcomes, isWritten: false }
    const started = performance.now()
    if (this.#ownVersion !== undefined && usage.metadata.resourceVersion !== this.#ownVersion) this.#roundRobin.noteForeignWrite(started)
    const written = await store.write({ ...usage, status: draft.toStatus() })
    this.#ownVersion = written.metadata.resourceVersion
    for (const id of drops) this.#dropping.delete(id)
    for (const id of abandoned) this.#abandoned.delete(id)
    this.#roundRobin.noteOwnWrite(performance.now(), performance.now() - started, holder, this.#othersIn(written))
    return { outcomes, isWritten: true }
  }

  #noteConflict(): void {
    this.#options.metrics.onConflict()
    this.#roundRobin.noteForeignWrite(performance.now())
  }

  #othersIn({ status }: AccountUsage): string[] {
    return [...new Set(status?.reservations?.map(({ gateway }) => gateway)).difference(new Set([this.#options.holder]))]
  }

  #tidy(draft: UsageDraft): { drops: string[]; abandoned: string[] } {
    const drops = [...this.#dropping]
    const abandoned = [...this.#abandoned]
    for (const id of drops) draft.drop(id)
    for (const [id, names] of abandoned) draft.release(id, names, this.#options.holder)
    return { drops, abandoned: abandoned.map(([id]) => id) }
  }

  /** Refunds failed reservations even if no other request arrives. */
  #scheduleCleanUp(): void {
    clearTimeout(this.#cleanUp)
    if (this.#abandoned.size === 0 || this.#isClosed) return
    this.#cleanUp = setTimeout(() => void this.#cleanUpNow(), CLEAN_UP_MILLISECONDS)
    this.#cleanUp.unref()
  }

  async #cleanUpNow(): Promise<void> {
    await this.#running
    this.#wake(1)
  }
}

/** The owner of the newest reservation most likely wrote the object. */
const writerOf = ({ status }: AccountUsage): string | undefined => status?.reservations?.at(-1)?.gateway

const tooBusy = (cause: unknown): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', 'the account’s usage cannot be written at the moment: retry in 1 second', {
    headers: { 'retry-after': '1' },
    cause,
  })

// Replicas that update the same object conflict with each other. After a write, a replica waits for as long as the others need to read and
// write once. Without this wait the fastest replica would win every time and a slow one would give up. Requests that arrive during the wait
// are batched into one update. Replicas take turns in the order of their names: every foreign write that is seen shows how many replicas are
// still ahead, and the next replica starts at once.

const CONTENDED_MILLISECONDS = 2_000
const FIRST_GUESS_MILLISECONDS = 10
const MAX_OTHERS = 8
const MAX_WAIT_MILLISECONDS = 1_500
/** Weight of the newest measurement in the moving average. */
const SMOOTHING = 0.3

/** Round robin between the replicas that write one object. Times are milliseconds of a monotonic clock. */
export class WriteRoundRobin {
  readonly #random: () => number
  #updateMilliseconds = FIRST_GUESS_MILLISECONDS
  #contendedAt = Number.NEGATIVE_INFINITY
  #freeAt = 0
  /** This replica writes at this time at the latest, whatever the others do. */
  #deadline = 0
  /** This replica, then the others in the order of their turns, as of its last write. */
  #round: readonly string[] = []

  constructor(random: () => number) {
    this.#random = random
  }

  /** Records that another replica has written. */
  noteForeignWrite(now: number): void {
    this.#contendedAt = now
  }

  /** Records how long this replica's write took. @param own name of this replica @param others replicas with reservations in the object */
  noteOwnWrite(now: number, tookMilliseconds: number, own: string, others: readonly string[]): void {
    this.#updateMilliseconds += SMOOTHING * (tookMilliseconds - this.#updateMilliseconds)
    this.#round = roundOf(own, others)
    this.#deadline = now + MAX_WAIT_MILLISECONDS
    if (now - this.#contendedAt <= CONTENDED_MILLISECONDS) this.#yieldTo(Math.max(1, others.length), now)
  }

  /** Records which replica wrote last. The replicas between that one and this one are next. */
  noteWriterProgress(now: number, name: string): void {
    const position = this.#round.indexOf(name)
    if (position > 0 && this.#freeAt > now) this.#yieldTo(this.#round.length - 1 - position, now)
  }

  /** Milliseconds to wait before the next write. */
  delay(now: number): number {
    return Math.max(0, this.#freeAt - now)
  }

  /** Every replica needs two requests: a read and a write. */
  #yieldTo(others: number, now: number): void {
    const requests = 2 * Math.min(MAX_OTHERS, others)
    this.#freeAt = Math.min(this.#deadline, now + requests * this.#updateMilliseconds * (0.75 + this.#random() / 2))
  }
}

/** The order of turns, starting with this replica. */
const roundOf = (own: string, others: readonly string[]): string[] => [
  own,
  ...others.filter((other) => other > own).toSorted(),
  ...others.filter((other) => other < own).toSorted(),
]
