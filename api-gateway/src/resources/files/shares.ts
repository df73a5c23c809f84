import type { Progress } from './progress.ts'

// Decides which download ends for another one when all slots are in use. Slots move only toward equal shares: first between accounts, then between
// the files of an account.

/** Who uses or wants a slot. */
export interface Holder {
  account: string
  /** Object key, which contains the account. */
  file: string
}

export interface RunningDownload extends Holder {
  progress: Pick<Progress, 'bytesPerSecond' | 'isSlow' | 'idleMilliseconds'>
}

/** Who has too many slots for another one: the account, the file, or nobody, because all slots are shared equally. */
export type RefusalReason = 'account' | 'file' | 'replica'

/** The use of the slots when a download wants one. */
export class Shares<D extends RunningDownload> {
  readonly #running: readonly D[]
  readonly #accounts = new Map<string, number>()
  readonly #files = new Map<string, number>()

  /** @param waiting other downloads that wait for a slot, which count as if they had one */
  constructor(running: readonly D[], waiting: readonly Holder[]) {
    this.#running = running
    for (const { account, file } of [...running, ...waiting]) {
      this.#accounts.set(account, this.#ofAccount(account) + 1)
      this.#files.set(file, this.#ofFile(file) + 1)
    }
  }

  #ofAccount(account: string): number {
    return this.#accounts.get(account) ?? 0
  }

  #ofFile(file: string): number {
    return this.#files.get(file) ?? 0
  }

  /** All downloads below the minimum rate, slowest first. */
  get slow(): readonly D[] {
    return this.#running.filter(({ progress }) => progress.isSlow).toSorted((a, b) => a.progress.bytesPerSecond - b.progress.bytesPerSecond)
  }

  /** The slowest download below the minimum rate, of the same account or of one with more slots. It ends at once. */
  findSlow({ account }: Holder): D | undefined {
    const own = this.#ofAccount(account)
    return this.slow.find((one) => one.account === account || this.#ofAccount(one.account) > own)
  }

  /**
   * The download that ends if no slot becomes free: of the account with the most slots, the one that has not moved for the longest time, then of the
   * file with the most slots, then the slowest.
   */
  findLargest(wanted: Holder): D | undefined {
    return this.#running
      .filter((one) => this.#isLarger(one, wanted))
      .toSorted(
        (a, b) =>
          this.#ofAccount(b.account) - this.#ofAccount(a.account) ||
          b.progress.idleMilliseconds - a.progress.idleMilliseconds ||
          this.#ofFile(b.file) - this.#ofFile(a.file) ||
          a.progress.bytesPerSecond - b.progress.bytesPerSecond,
      )[0]
  }

  /** True if the other has at least two slots more: it keeps as many as the wanting one gets. */
  #isLarger(one: Holder, wanted: Holder): boolean {
    if (one.account !== wanted.account) return this.#ofAccount(one.account) >= this.#ofAccount(wanted.account) + 2
    return this.#ofFile(one.file) >= this.#ofFile(wanted.file) + 2
  }

  /** Why a download gets no slot, after neither function above has found one. */
  reasonFor({ account, file }: Holder): RefusalReason {
    if (this.#ofAccount(account) > 0 && this.#accounts.size > 1) return 'account'
    return this.#ofFile(file) > 0 && this.#files.size > 1 ? 'file' : 'replica'
  }
}
