import type { Lister } from '@tintype/crds/client/lister'
import type { Log } from '@tintype/crds/client/log'
import type { StorageAccess } from '@tintype/crds/crypto/presign'
import { isScreenshotId } from '@tintype/crds/identifiers/ids'
import { Annotation } from '@tintype/crds/identifiers/names'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { OBJECTS } from '@tintype/crds/records/folders'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { accountOf } from '@tintype/crds/records/record'
import { eventKey } from '@tintype/crds/records/storage-keys'
import type { MayWrite } from '@tintype/crds/runtime/fence'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import type { EventType } from '@tintype/crds/schema/event-types'
import { findArchived, isDeleted } from '@tintype/crds/storage/archive'
import { emptyIfTooLarge } from '@tintype/crds/storage/stored-objects'
import type { AttemptLine } from '@tintype/crds/webhooks/deliveries'
import { buildEvent, type Envelope, findMismatch, findMismatchOfDeleted, type LinkBase } from '@tintype/crds/webhooks/events'
import { openStorage, type Storage } from '../../../storage/storage.ts'

/** Index of Screenshots by their id in the REST API. */
export const SCREENSHOTS_BY_ID = 'delivery/id'

export interface RecordedEventsDeps {
  screenshots: Pick<Lister<Screenshot>, 'byIndex'>
  storage: Pick<Storage, 'readText' | 'exists'>
  linkBase: LinkBase
  /** Reports objects that are ignored. */
  report: ReportIgnored
  now: () => Date
}

/** Names an event, and the URL of a single request that receives it. */
type EventLine = Pick<AttemptLine, 'event' | 'type' | 'screenshot' | 'url'>

/** Loads past events: the stored bytes if the first post failed, else rebuilt from the record, live or archived. */
export class RecordedEvents {
  readonly #deps: RecordedEventsDeps

  constructor(deps: RecordedEventsDeps) {
    this.#deps = deps
  }

  /** Bytes of an event in the delivery log; undefined when its Screenshot was deleted and they were not stored. @throws RetryableError */
  async load(webhook: Pick<Webhook, 'spec'>, line: EventLine, known?: Screenshot): Promise<string | undefined> {
    const { event, type, screenshot } = line
    const account = accountOf(webhook)
    const record = known ?? (await this.find(account, screenshot))
    // A URL other than the webhook's own must be in the record: the log alone must not redirect an event.
    if (line.url !== undefined && record?.spec.webhookUrl !== line.url) return undefined
    const built = record && buildEvent(record, type as EventType, this.#deps.linkBase)
    const kept = await this.#findKept(account, line, built)
    if (kept !== undefined) return kept
    // An object that was recreated under the same name has other events.
    return built?.id === event ? JSON.stringify(built) : undefined
  }

  /** The stored bytes, if they belong to this event. */
  async #findKept(account: string, { event, type, screenshot }: EventLine, built: Envelope | undefined): Promise<string | undefined> {
    const { storage, linkBase, report } = this.#deps
    const key = eventKey(event)
    const kept = await emptyIfTooLarge(storage.readText(key, OBJECTS.event.maxBytes))
    if (kept === undefined) return undefined
    const facts = { id: event, type, screenshot, account, publicUrl: linkBase.publicUrl }
    const isBuilt = built?.id === event
    const fault = isBuilt ? findMismatch(kept, built) : findMismatchOfDeleted(kept, facts)
    const reason = fault ?? (isBuilt || (await this.#wasOf(account, screenshot)) ? undefined : 'account')
    if (reason) report({ kind: 'event', reason, key })
    return reason ? undefined : kept
  }

  /** A Screenshot in the Kubernetes API. */
  findLive(account: string, id: string): Screenshot | undefined {
    return this.#deps.screenshots.byIndex(SCREENSHOTS_BY_ID, id).find((screenshot) => accountOf(screenshot) === account)
  }

  /** Whether the account had a Screenshot with that id. Stored events are keyed by event id only. */
  async #wasOf(account: string, id: string): Promise<boolean> {
    if (this.findLive(account, id)) return true
    return isScreenshotId(id) && isDeleted(account, id, this.#deps.storage)
  }

  /** A Screenshot or its archived record; undefined if it was deleted. @throws RetryableError */
  async find(account: string, id: string): Promise<Screenshot | undefined> {
    const live = this.findLive(account, id)
    if (live) return isBeingDeleted(live) || live.metadata.annotations?.[Annotation.deleteRequested] !== undefined ? undefined : live
    return isScreenshotId(id) ? findArchived(account, id, this.#deps) : undefined
  }
}

/** Stores the bytes of events whose first post failed, by object key. The bucket removes them after 7 days. */
export interface EventStore {
  put(key: string, body: string): Promise<void>
}

/**
 * Keeps the bytes of events that must be repeated. They are a pure function of the Screenshot, but a rotated link key or another version of the
 * operator would build different ones.
 */
export class EventBodies {
  readonly #store: EventStore
  readonly #log: Log

  constructor({ store, log }: { store: EventStore; log: Log }) {
    this.#store = store
    this.#log = log
  }

  /** Stores an event after its first post failed. Without the bucket it is rebuilt, which gives the same bytes except in rare cases. */
  async keep({ id, body }: { id: string; body: string }): Promise<void> {
    try {
      await this.#store.put(eventKey(id), body)
    } catch (error) {
      this.#log.warn({ err: error, event: id }, 'event not stored')
    }
  }
}

/** Time limit of the store. */
const TIMEOUT_MILLISECONDS = 2_000

/** Stores events in the bucket of the release. */
export function openEventStore(access: StorageAccess, mayWrite?: MayWrite): EventStore {
  const storage = openStorage(access, { timeoutMilliseconds: TIMEOUT_MILLISECONDS, ...(mayWrite ? { mayWrite } : {}) })
  return { put: (key, body) => storage.write(key, body) }
}
