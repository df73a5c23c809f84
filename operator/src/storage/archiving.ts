import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Undelivered } from '@tintype/crds/webhooks/deliveries'

/** What happens to the open deliveries of a Screenshot that is archived. */
export interface OpenDeliveries {
  /** The open deliveries; undefined while one of them is posted. No post starts while the Screenshot is held. */
  of: (screenshot: Screenshot) => readonly Undelivered[] | undefined
  /** Stores them, so that they continue without the Screenshot. @throws RetryableError */
  keep: (account: string, open: readonly Undelivered[]) => Promise<void>
}

/** For programs that deliver nothing. */
const NO_DELIVERIES: OpenDeliveries = { of: () => [], keep: async () => undefined }

/**
 * Screenshots that this process deletes from the Kubernetes API because they are archived. For other deletions the bucket is read twice per
 * Screenshot to find out what they mean. The archiver already knows it for its own deletions and checks for tombstones together. If another
 * client deleted a Screenshot first, it is released and handled like any other deletion.
 */
export class Archiving {
  /** Held Screenshots by uid, with the deleted object once the deletion was seen. */
  readonly #held = new Map<string, Screenshot | undefined>()
  /** Called for each released Screenshot whose deletion was seen. */
  onReleased: (screenshot: Screenshot) => void = () => {}
  /** Set by the delivery controllers at the start of a term. */
  openDeliveries: OpenDeliveries = NO_DELIVERIES

  /** Makes the archiver responsible for the deletion of these Screenshots. */
  hold(screenshots: readonly Screenshot[]): void {
    for (const { metadata } of screenshots) this.#held.set(metadata.uid, undefined)
  }

  /** True while a Screenshot is archived. */
  isHeld({ metadata }: Pick<Screenshot, 'metadata'>): boolean {
    return this.#held.has(metadata.uid)
  }

  /** Records that a Screenshot was deleted. Returns true when the archiver is responsible, so the caller does nothing. */
  noteDeleted(screenshot: Screenshot): boolean {
    const { uid } = screenshot.metadata
    if (!this.#held.has(uid)) return false
    this.#held.set(uid, screenshot)
    return true
  }

  /** Ends the responsibility. @param archived those that are certainly archived: their deletion needs no further handling */
  release(screenshots: readonly Screenshot[], archived: ReadonlySet<Screenshot>): void {
    for (const screenshot of screenshots) {
      const { uid } = screenshot.metadata
      const gone = this.#held.get(uid)
      this.#held.delete(uid)
      if (gone && !archived.has(screenshot)) this.onReleased(gone)
    }
  }
}
