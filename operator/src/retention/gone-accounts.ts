/** Time after its deletion in which an account may be made again and find everything: a mistake must not cost the pictures of years. */
const GRACE_MILLISECONDS = 86_400_000

/** Accounts that have something in the bucket and do not exist: since when, as far as this leader knows. */
export class GoneAccounts {
  readonly #since = new Map<string, number>()

  /** True for an account that has been gone for a day whenever it was looked for. */
  isGone(name: string, exists: boolean, now: Date): boolean {
    if (exists) {
      this.#since.delete(name)
      return false
    }
    const since = this.#since.get(name) ?? now.getTime()
    this.#since.set(name, since)
    return now.getTime() - since >= GRACE_MILLISECONDS
  }
}
