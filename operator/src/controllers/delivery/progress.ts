import type { ScreenshotEventType } from '@tintype/crds/schema/event-types'
import { Backlog } from './backlog.ts'
import type { Progress } from './decide.ts'

type Deliveries = Map<string, Progress>

const nameOf = (event: ScreenshotEventType, webhook: string): string => `${event}/${webhook}`

/** Posts of one Screenshot that this leader has in progress or has not recorded yet. */
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

  /** Names of the webhooks that have a post of that event. */
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

  /** Removes all posts. */
  clear(): void {
    for (const name of this.#deliveries.keys()) this.#backlog.remove(this.#within(name))
    this.#deliveries.clear()
  }

  /** Unique name of a delivery among all Screenshots. */
  #within(name: string): string {
    return `${this.uid}/${name}`
  }

  get isEmpty(): boolean {
    return this.#deliveries.size === 0
  }
}

/**
 * Posts that this leader has in progress, by Screenshot. It holds only what is not recorded in status.deliveries yet: if the process ends, at
 * most a post is repeated.
 */
export class ProgressStore {
  readonly backlog: Backlog
  readonly #screenshots = new Map<string, ScreenshotProgress>()

  constructor(backlog = new Backlog()) {
    this.backlog = backlog
  }

  /** The progress of an object. An object that was recreated under the same name starts empty; posts of the old one are ignored. */
  of(key: string, uid: string): ScreenshotProgress {
    const known = this.#screenshots.get(key)
    if (known?.uid === uid) return known
    known?.clear()
    const fresh = new ScreenshotProgress(uid, key, this.backlog)
    this.#screenshots.set(key, fresh)
    return fresh
  }

  /** Removes an entry that is empty. */
  prune(key: string): void {
    if (this.#screenshots.get(key)?.isEmpty) this.#screenshots.delete(key)
  }

  /** Removes all entries of a deleted object. */
  forget(key: string): void {
    this.#screenshots.get(key)?.clear()
    this.#screenshots.delete(key)
  }

  /** Keys of Screenshots that have entries. */
  keys(): string[] {
    return [...this.#screenshots.keys()]
  }
}
