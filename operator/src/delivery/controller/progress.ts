import type { ScreenshotEventType } from '@tintype/crds/schema/event-types'
import { Backlog } from './backlog.ts'
import type { Progress } from './decide.ts'

type Deliveries = Map<string, Progress>

const nameOf = (event: ScreenshotEventType, webhook: string): string => `${event}/${webhook}`

/** The posts of one Screenshot that this leader has under way or not yet written down. */
export class ScreenshotProgress {
  readonly uid: string
  readonly #key: string
  readonly #backlog: Backlog
  readonly #deliveries: Deliveries = new Map()

  /** @param key of the Screenshot */
  constructor(uid: string, key = uid, backlog = new Backlog()) {
    this.uid = uid
    this.#key = key
    this.#backlog = backlog
  }

  get(event: ScreenshotEventType, webhook: string): Progress | undefined {
    return this.#deliveries.get(nameOf(event, webhook))
  }

  /** Names of the webhooks with a post of that event here. */
  webhooksOf(event: ScreenshotEventType): string[] {
    const prefix = nameOf(event, '')
    return [...this.#deliveries.keys()].flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []))
  }

  set(event: ScreenshotEventType, webhook: string, progress: Progress): void {
    const name = nameOf(event, webhook)
    this.#deliveries.set(name, progress)
    if (progress.state === 'ended') this.#backlog.add(this.#within(name), this.#key)
    else this.#backlog.remove(this.#within(name))
  }

  delete(event: ScreenshotEventType, webhook: string): void {
    const name = nameOf(event, webhook)
    this.#deliveries.delete(name)
    this.#backlog.remove(this.#within(name))
  }

  /** Forgets all. */
  clear(): void {
    for (const name of this.#deliveries.keys()) this.#backlog.remove(this.#within(name))
    this.#deliveries.clear()
  }

  /** The name of one of our deliveries among all. */
  #within(name: string): string {
    return `${this.uid}/${name}`
  }

  get isEmpty(): boolean {
    return this.#deliveries.size === 0
  }
}

/**
 * What this leader has under way, by Screenshot. It is a memory of what status.deliveries does not hold yet: losing it with the process costs at
 * most a repeated post.
 */
export class ProgressStore {
  readonly backlog: Backlog
  readonly #screenshots = new Map<string, ScreenshotProgress>()

  constructor(backlog = new Backlog()) {
    this.backlog = backlog
  }

  /** The progress of an object. One made anew under the same name starts empty, and posts of the old one report to nobody. */
  of(key: string, uid: string): ScreenshotProgress {
    const known = this.#screenshots.get(key)
    if (known?.uid === uid) return known
    known?.clear()
    const fresh = new ScreenshotProgress(uid, key, this.backlog)
    this.#screenshots.set(key, fresh)
    return fresh
  }

  /** Drops what there is nothing left to remember of. */
  prune(key: string): void {
    if (this.#screenshots.get(key)?.isEmpty) this.#screenshots.delete(key)
  }

  /** Drops all of an object that is gone. */
  forget(key: string): void {
    this.#screenshots.get(key)?.clear()
    this.#screenshots.delete(key)
  }

  /** Screenshots of which something is remembered. */
  keys(): string[] {
    return [...this.#screenshots.keys()]
  }
}
