/**
 * Changes by this process that its watch has not shown yet. Without it, a slow watch makes a controller create the same pods again and
 * again. Entries expire after a while.
 */

/** A change that the watch has not shown after this time is forgotten. */
export const EXPECTATION_MILLISECONDS = 300_000

/** Names for creations, uids for deletions. */
export class Expectations {
  readonly #created = new Map<string, number>()
  readonly #deleted = new Map<string, number>()

  expectCreation(name: string, now: number): void {
    this.#created.set(name, now)
  }

  expectDeletion(uid: string, now: number): void {
    this.#deleted.set(uid, now)
  }

  /** The creation or deletion was rejected. */
  forget(nameOrUid: string): void {
    this.#created.delete(nameOrUid)
    this.#deleted.delete(nameOrUid)
  }

  /** Names of created pods that are not among `names` yet. */
  unseenCreations(names: ReadonlySet<string>, now: number): string[] {
    for (const [name, at] of this.#created) if (names.has(name) || now - at > EXPECTATION_MILLISECONDS) this.#created.delete(name)
    return [...this.#created.keys()]
  }

  /** Whether this process deleted a pod that is still in the cache. */
  isDeleted(uid: string, now: number): boolean {
    const at = this.#deleted.get(uid)
    if (at !== undefined && now - at <= EXPECTATION_MILLISECONDS) return true
    this.#deleted.delete(uid)
    return false
  }
}
