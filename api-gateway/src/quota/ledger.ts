import { setTimeout as sleep } from 'node:timers/promises'
import { isConflict, isNotFound, isTransient } from '@tintype/crds/client/kube-error'
import type { AccountUsage } from '@tintype/crds/kinds/account-usage'
import { type Outcome, UsageDraft, type Wanted } from '@tintype/crds/usage'
import { ApiError } from '../errors.ts'
import type { QuotaMetrics } from './metrics.ts'
import { Turns } from './turns.ts'

// Group commit for one account: one update is under way at a time, and what arrives meanwhile rides on the next. So a burst costs a few
// writes, and this replica never races itself. Every step may be repeated: after a lost race or an unknown outcome the newest state is read
// and all is decided again, and a reservation that is found there was ours.

/** The AccountUsage of one account. */
export interface UsageStore {
  /** The copy in memory; undefined while there is none, or none that counts yet. */
  cached: () => AccountUsage | undefined
  /** As the API server has it now. @throws ApiError SERVICE_UNAVAILABLE when there is none */
  read: () => Promise<AccountUsage>
  /** Writes the status over the version that was read, and nothing else; gives what is there then. */
  write: (usage: AccountUsage) => Promise<AccountUsage>
}

export interface LedgerOptions {
  store: UsageStore
  /** This process, as reservations name it. */
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
  /** False: nothing was worth a write. */
  isWritten: boolean
}

/** What bounds a busy account is the time; the number only stops what fails at once each time. */
const MAX_ATTEMPTS = 20
const MAX_MILLISECONDS = 8_000
/** So many waiters ride on one update: the object stays small. */
const MAX_WAITERS = 100
/** So many reservations are kept until an update is made for them alone. */
const MANY_DROPS = 100
const FIRST_DELAY_MILLISECONDS = 4
const MAX_DELAY_MILLISECONDS = 500
const CLEAN_UP_MILLISECONDS = 2_000

/** See the head of this file. */
export class Ledger {
  readonly #options: LedgerOptions
  readonly #waiting: Waiter[] = []
  /** Reservations whose objects exist. */
  readonly #dropping = new Set<string>()
  /** Names of reservations that were perhaps written although their caller was told that they were not. */
  readonly #abandoned = new Map<string, readonly string[]>()
  /** Reservations that callers of this process work under: a repetition that fails takes nothing away from them. */
  readonly #held = new Set<string>()
  readonly #turns: Turns
  /** What this process has written last. */
  #ownVersion: string | undefined
  #running: Promise<void> | undefined
  /** It may be our turn sooner than it was thought. */
  #lookAgain: (() => void) | undefined
  #cleanUp: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: LedgerOptions) {
    this.#options = options
    this.#turns = new Turns(options.random)
  }

  /** @throws ApiError SERVICE_UNAVAILABLE; nothing stays charged then */
  reserve(wanted: Omit<Wanted, 'gateway'>): Promise<Outcome> {
    // A repetition of a request that failed: it is not to be taken back under the hands of the one that repeats it.
    this.#abandoned.delete(wanted.id)
    return this.#ask(wanted, (draft) => draft.reserve({ ...wanted, gateway: this.#options.holder }))
  }

  async giveBack(id: string, names: readonly string[]): Promise<void> {
    this.#held.delete(id)
    await this.#ask({ id, names }, (draft) => {
      draft.giveBack(id, names, this.#options.holder)
      return { granted: 0 }
    })
  }

  /** The object has changed. */
  noteChange(usage: AccountUsage): void {
    const writer = writerOf(usage)
    if (writer === undefined || writer === this.#options.holder) return
    this.#turns.noteWriter(performance.now(), writer)
    this.#lookAgain?.()
  }

  /** Written with the next update. */
  drop(id: string): void {
    this.#held.delete(id)
    this.#dropping.add(id)
    if (this.#dropping.size >= MANY_DROPS) this.#wake()
  }

  /** Writes what is left to be told. */
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

  /** @param worthWriting changes besides the waiters' that are worth an update of their own */
  #wake(worthWriting = MANY_DROPS): void {
    this.#running ??= this.#run(worthWriting).finally(() => {
      this.#running = undefined
      // What came while the last update was being settled.
      if (this.#waiting.length > 0) this.#wake()
    })
  }

  async #run(worthWriting: number): Promise<void> {
    do {
      if (this.#turns.wait(performance.now()) > 0) await this.#waitForTurn()
      await this.#commit(this.#waiting.splice(0, MAX_WAITERS), worthWriting)
    } while (this.#waiting.length > 0)
  }

  async #waitForTurn(): Promise<void> {
    for (let wait = this.#turns.wait(performance.now()); wait > 0; wait = this.#turns.wait(performance.now())) {
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
    let usage = store.cached()
    for (let attempt = 1; ; attempt++) {
      try {
        const { outcomes, isWritten } = await this.#update(usage ?? (await store.read()), waiters, worthWriting)
        if (isWritten) metrics.onCommit(waiters.length, attempt)
        return outcomes
      } catch (error) {
        if (isConflict(error)) this.#noteConflict()
        else if (!isTransient(error) && !isNotFound(error)) throw error
        if (attempt === MAX_ATTEMPTS || performance.now() > until) throw tooBusy(error)
        // The winner lets others have their turn: whoever has just lost need not wait.
        if (attempt > 1 || !isConflict(error))
          await sleep(Math.min(MAX_DELAY_MILLISECONDS, FIRST_DELAY_MILLISECONDS * 2 ** attempt) * random())
        usage = undefined
      }
    }
  }

  /** Decides by one state and writes over it. @throws what the API server says, or nothing in time */
  async #update(usage: AccountUsage, waiters: readonly Waiter[], worthWriting: number): Promise<Updated> {
    const { store, now, holder } = this.#options
    const draft = new UsageDraft(usage, now())
    const { drops, abandoned } = this.#tidy(draft)
    const tidied = draft.changes
    const outcomes = waiters.map(({ apply }) => apply(draft))
    if (draft.changes === tidied && tidied < worthWriting) return { outcomes, isWritten: false }
    const started = performance.now()
    if (this.#ownVersion !== undefined && usage.metadata.resourceVersion !== this.#ownVersion) this.#turns.noteOther(started)
    const written = await store.write({ ...usage, status: draft.toStatus() })
    this.#ownVersion = written.metadata.resourceVersion
    for (const id of drops) this.#dropping.delete(id)
    for (const id of abandoned) this.#abandoned.delete(id)
    this.#turns.noteUpdate(performance.now(), performance.now() - started, holder, this.#othersIn(written))
    return { outcomes, isWritten: true }
  }

  #noteConflict(): void {
    this.#options.metrics.onConflict()
    this.#turns.noteOther(performance.now())
  }

  #othersIn({ status }: AccountUsage): string[] {
    return [...new Set(status?.reservations?.map(({ gateway }) => gateway)).difference(new Set([this.#options.holder]))]
  }

  #tidy(draft: UsageDraft): { drops: string[]; abandoned: string[] } {
    const drops = [...this.#dropping]
    const abandoned = [...this.#abandoned]
    for (const id of drops) draft.drop(id)
    for (const [id, names] of abandoned) draft.giveBack(id, names, this.#options.holder)
    return { drops, abandoned: abandoned.map(([id]) => id) }
  }

  /** What was perhaps charged in vain is looked for, also when nobody asks for anything else. */
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

/** Who has reserved last has most likely written it. */
const writerOf = ({ status }: AccountUsage): string | undefined => status?.reservations?.at(-1)?.gateway

const tooBusy = (cause: unknown): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', 'the account’s usage could not be written for the moment', { headers: { 'retry-after': '1' }, cause })
