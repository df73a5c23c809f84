import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { EventType } from '@tintype/crds/schema/event-types'
import type { Candidate, Progress } from './decide.ts'
import type { Occurrence } from './events/receivers.ts'

/** Equals the number of concurrent writes. */
const MAX_ENDED = 32
/** A result that cannot be written for so long no longer blocks other posts. */
const MAX_BLOCKING_MILLISECONDS = 30_000

interface End {
  screenshotKey: string
  /** Monotonic milliseconds. */
  at: number
}

/**
 * Results of posts that are not recorded in status.deliveries yet. If the operator is killed, these posts are repeated, so their number is
 * limited: when the limit is reached, no new post starts, and results are written at once instead of together with running posts.
 */
export class Backlog {
  /** By delivery, oldest first. */
  readonly #ends = new Map<string, End>()
  readonly #now: () => number
  /** Called with the Screenshots to record when the limit is reached. */
  onFull: (screenshotKeys: readonly string[]) => void = () => undefined
  /** Called when the number falls below the limit. */
  onRoom: () => void = () => undefined

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  add(delivery: string, screenshotKey: string): void {
    this.#ends.delete(delivery)
    this.#ends.set(delivery, { screenshotKey, at: this.#now() })
    if (this.#ends.size === MAX_ENDED) this.onFull([...new Set([...this.#ends.values()].map((end) => end.screenshotKey))])
  }

  /** The result was recorded or is no longer needed. */
  remove(delivery: string): void {
    if (this.#ends.delete(delivery) && this.#ends.size === MAX_ENDED - 1) this.onRoom()
  }

  get isFull(): boolean {
    for (const [delivery, { at }] of this.#ends) {
      if (this.#now() - at < MAX_BLOCKING_MILLISECONDS) break
      this.#ends.delete(delivery)
    }
    return this.#ends.size >= MAX_ENDED
  }
}

type Deliveries = Map<string, Progress>

const nameOf = (event: EventType, webhook: string): string => `${event}/${webhook}`

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

  get(event: EventType, webhook: string): Progress | undefined {
    return this.#deliveries.get(nameOf(event, webhook))
  }

  /** Names of the webhooks that have a post of that event. */
  webhooksOf(event: EventType): string[] {
    const prefix = nameOf(event, '')
    return [...this.#deliveries.keys()].flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []))
  }

  set(event: EventType, webhook: string, progress: Progress): void {
    const name = nameOf(event, webhook)
    this.#deliveries.set(name, progress)
    if (progress.state === 'ended') this.#backlog.add(this.#within(name), this.#key)
    else this.#backlog.remove(this.#within(name))
  }

  delete(event: EventType, webhook: string): void {
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

/** One Screenshot, the receivers of its events, and the posts in progress. */
export interface Observed {
  screenshot: Screenshot
  occurrences: Occurrence[]
  candidates: Candidate[]
  progress: ScreenshotProgress
  isDeleteRequested: boolean
  /** Its secret signs posts to the URL of the request, and its statistics count them. */
  defaultWebhook: Webhook | undefined
}
