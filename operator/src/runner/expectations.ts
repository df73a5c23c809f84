/**
 * What this process has done and its watch has not shown yet: without it a slow watch makes a controller create the same pods again and
 * again (tenfold, others have measured). What never shows is forgotten after a while.
 */

/** A watch that has not shown a change by then never will. */
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

  /** A creation or deletion that was refused after all. */
  forget(nameOrUid: string): void {
    this.#created.delete(nameOrUid)
    this.#deleted.delete(nameOrUid)
  }

  /** Names of pods that exist although they are not to be seen among `names`. */
  unseenCreations(names: ReadonlySet<string>, now: number): string[] {
    for (const [name, at] of this.#created) if (names.has(name) || now - at > EXPECTATION_MILLISECONDS) this.#created.delete(name)
    return [...this.#created.keys()]
  }

  /** Whether a pod that is still to be seen has been deleted by this process. */
  isDeleted(uid: string, now: number): boolean {
    const at = this.#deleted.get(uid)
    if (at !== undefined && now - at <= EXPECTATION_MILLISECONDS) return true
    this.#deleted.delete(uid)
    return false
  }
}
