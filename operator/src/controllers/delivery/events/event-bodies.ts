import type { Log } from '@tintype/crds/client/log'
import type { StorageAccess } from '@tintype/crds/crypto/presign'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { OBJECTS } from '@tintype/crds/records/folders'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { eventKey } from '@tintype/crds/records/storage-keys'
import type { MayWrite } from '@tintype/crds/runtime/fence'
import type { EventType } from '@tintype/crds/schema/event-types'
import { emptyIfTooLarge } from '@tintype/crds/storage/stored-objects'
import { buildEvent, type Envelope, findMismatch, type LinkBase } from '@tintype/crds/webhooks/events'
import { openStorage } from '../../../storage/storage.ts'

/** Stores the bytes of events whose first post failed, by object key. The bucket removes them after 7 days. */
export interface EventStore {
  put(key: string, body: string): Promise<void>
  /** Undefined when there is no such object. */
  get(key: string): Promise<string | undefined>
}

/** An event as it is posted. */
export interface EventBody {
  id: string
  body: string
}

export interface EventBodiesOptions {
  linkBase: LinkBase
  store: EventStore
  log: Log
  /** Reports objects that are ignored. */
  report: ReportIgnored
}

/**
 * Builds the bytes of events. They are a pure function of the Screenshot, but a rotated link key or another version of the operator would build
 * different ones: the bytes that a retry must repeat are kept in the store.
 */
export class EventBodies {
  readonly #options: EventBodiesOptions

  constructor(options: EventBodiesOptions) {
    this.#options = options
  }

  /** Returns the event for an attempt: the first attempt builds it, later ones repeat the stored bytes. */
  async load(screenshot: Screenshot, type: EventType, attempt: number): Promise<EventBody> {
    const event = buildEvent(screenshot, type, this.#options.linkBase)
    const kept = attempt > 1 ? await this.#findKept(event) : undefined
    return { id: event.id, body: kept ?? JSON.stringify(event) }
  }

  /** An object that is not this event is ignored: it would be signed and posted. */
  async #findKept(event: Envelope): Promise<string | undefined> {
    const key = eventKey(event.id)
    const kept = await this.#tolerate('load event', emptyIfTooLarge(this.#options.store.get(key)))
    const reason = kept === undefined ? undefined : findMismatch(kept, event)
    if (reason) this.#options.report({ kind: 'event', reason, key })
    return reason ? undefined : kept
  }

  /** Stores an event after its first post failed. Without the bucket it is rebuilt, which gives the same bytes except in rare cases. */
  async keep({ id, body }: EventBody): Promise<void> {
    await this.#tolerate('keep event', this.#options.store.put(eventKey(id), body))
  }

  async #tolerate<T>(step: string, work: Promise<T>): Promise<T | undefined> {
    try {
      return await work
    } catch (error) {
      this.#options.log.warn({ err: error, step }, 'event store unavailable')
      return undefined
    }
  }
}

/** Time limit of the store; after it the event is rebuilt. */
const TIMEOUT_MILLISECONDS = 2_000

/** Stores events in the bucket of the release. */
export function openEventStore(access: StorageAccess, mayWrite?: MayWrite): EventStore {
  const storage = openStorage(access, { timeoutMilliseconds: TIMEOUT_MILLISECONDS, ...(mayWrite ? { mayWrite } : {}) })
  return {
    put: (key, body) => storage.write(key, body),
    get: (key) => storage.readText(key, OBJECTS.event.maxBytes),
  }
}
