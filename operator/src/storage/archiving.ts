import type { Screenshot } from '@tintype/crds/kinds/screenshot'

/**
 * Screenshots that this process takes out of the Kubernetes API because their record is in the archive. What the end of any other one means is
 * asked of the bucket, twice each; of these the archiver knows it, and asks for deletions of all together. One that somebody else was faster to
 * delete is handed back, and judged like any other.
 */
export class Archiving {
  /** By uid; with what was seen to go. */
  readonly #held = new Map<string, Screenshot | undefined>()
  /** Called with each that is handed back after it was seen to go. */
  onHandedBack: (screenshot: Screenshot) => void = () => {}

  /** From now on the end of these is the archiver's to judge. */
  hold(screenshots: readonly Screenshot[]): void {
    for (const { metadata } of screenshots) this.#held.set(metadata.uid, undefined)
  }

  /** Notes that a Screenshot is gone. True: who sees it need do nothing about it. */
  sees(screenshot: Screenshot): boolean {
    const { uid } = screenshot.metadata
    if (!this.#held.has(uid)) return false
    this.#held.set(uid, screenshot)
    return true
  }

  /** Ends the holding. @param archived those that are archived for certain: their end needs nothing more */
  release(screenshots: readonly Screenshot[], archived: ReadonlySet<Screenshot>): void {
    for (const screenshot of screenshots) {
      const { uid } = screenshot.metadata
      const gone = this.#held.get(uid)
      this.#held.delete(uid)
      if (gone && !archived.has(screenshot)) this.onHandedBack(gone)
    }
  }
}
