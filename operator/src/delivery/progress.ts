import type { ScreenshotEventType } from '@tintype/crds/event-types'
import type { Progress } from './decide.ts'

type Deliveries = Map<string, Progress>

/** The posts of one Screenshot that this leader has under way or not yet written down. */
export class ScreenshotProgress {
  readonly uid: string
  readonly #deliveries: Deliveries = new Map()

  constructor(uid: string) {
    this.uid = uid
  }

  get(event: ScreenshotEventType, webhook: string): Progress | undefined {
    return this.#deliveries.get(`${event}/${webhook}`)
  }

  set(event: ScreenshotEventType, webhook: string, progress: Progress): void {
    this.#deliveries.set(`${event}/${webhook}`, progress)
  }

  delete(event: ScreenshotEventType, webhook: string): void {
    this.#deliveries.delete(`${event}/${webhook}`)
  }

  get isEmpty(): boolean {
    return this.#deliveries.size === 0
  }
}

/**
 * What this leader has under way, by Screenshot. It is a memory of what the ledger does not hold yet: losing it with the process costs at
 * most a repeated post.
 */
export class ProgressBook {
  readonly #screenshots = new Map<string, ScreenshotProgress>()

  /** The progress of an object. One made anew under the same name starts empty, and posts of the old one report to nobody. */
  of(key: string, uid: string): ScreenshotProgress {
    const known = this.#screenshots.get(key)
    if (known?.uid === uid) return known
    const fresh = new ScreenshotProgress(uid)
    this.#screenshots.set(key, fresh)
    return fresh
  }

  /** Drops what there is nothing left to remember of. */
  prune(key: string): void {
    if (this.#screenshots.get(key)?.isEmpty) this.#screenshots.delete(key)
  }

  /** Drops all of an object that is gone. */
  forget(key: string): void {
    this.#screenshots.delete(key)
  }

  /** Screenshots of which something is remembered. */
  keys(): string[] {
    return [...this.#screenshots.keys()]
  }
}
