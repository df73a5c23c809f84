/** Gives out a number of turns at the same time. The account that holds the fewest is next, then the one that has waited longest. */
export class Turns {
  readonly #held = new Map<string, number>()
  /** In order of arrival. */
  readonly #waiting = new Set<{ account: string; grant: () => void }>()
  #free: number

  constructor(max: number) {
    this.#free = max
  }

  /** Resolves when the account has a turn, to a function that ends it. Further calls of that function do nothing. */
  async take(account: string): Promise<() => void> {
    if (this.#free > 0) this.#hold(account)
    else await new Promise<void>((grant) => this.#waiting.add({ account, grant }))
    let isHeld = true
    return () => {
      if (isHeld) this.#end(account)
      isHeld = false
    }
  }

  #hold(account: string): void {
    this.#free--
    this.#held.set(account, this.#of(account) + 1)
  }

  #end(account: string): void {
    this.#free++
    const left = this.#of(account) - 1
    if (left > 0) this.#held.set(account, left)
    else this.#held.delete(account)
    const next = this.#waiting
      .values()
      .reduce<{ account: string; grant: () => void } | undefined>(
        (first, one) => (first && this.#of(first.account) <= this.#of(one.account) ? first : one),
        undefined,
      )
    if (!next) return
    this.#waiting.delete(next)
    this.#hold(next.account)
    next.grant()
  }

  #of(account: string): number {
    return this.#held.get(account) ?? 0
  }
}
