import type { Log } from '@tintype/crds/client/log'
import type { ScreenshotEventType } from '@tintype/crds/event-types'
import { buildEvent, type LinkBase } from '@tintype/crds/events'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { eventKey } from '@tintype/crds/storage-keys'

/** Keeps the bytes of events whose first post failed, by object key. The bucket removes them after 7 days. */
export interface EventStore {
  put(key: string, body: string): Promise<void>
  /** Undefined when there is no such object. */
  get(key: string): Promise<string | undefined>
}

/** An event as it goes out. */
export interface EventBytes {
  id: string
  body: string
}

/**
 * The bytes of events. They are a pure function of the Screenshot, but a rotated link key or another version of the program would build
 * others: what a retry must repeat is kept outside.
 */
export class EventLibrary {
  readonly #linkBase: LinkBase
  readonly #store: EventStore | undefined
  readonly #log: Log

  constructor({ linkBase, store, log }: { linkBase: LinkBase; store?: EventStore | undefined; log: Log }) {
    this.#linkBase = linkBase
    this.#store = store
    this.#log = log
  }

  /** The event for an attempt: the first builds it, later ones repeat what was kept. */
  async load(screenshot: Screenshot, type: ScreenshotEventType, attempt: number): Promise<EventBytes> {
    const event = buildEvent(screenshot, type, this.#linkBase)
    const kept = attempt > 1 ? await this.#tolerate('load event', this.#store?.get(eventKey(event.id))) : undefined
    return { id: event.id, body: kept ?? JSON.stringify(event) }
  }

  /** Keeps an event after its first post failed. Without the bucket the event is built again, which is the same in all but rare cases. */
  async keep({ id, body }: EventBytes): Promise<void> {
    await this.#tolerate('keep event', this.#store?.put(eventKey(id), body))
  }

  async #tolerate<T>(step: string, work: Promise<T> | undefined): Promise<T | undefined> {
    try {
      return await work
    } catch (error) {
      this.#log.warn({ err: error, step }, 'the event store does not answer')
      return undefined
    }
  }
}
