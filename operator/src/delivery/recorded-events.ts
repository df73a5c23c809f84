import { parseArchivedLine } from '@tintype/crds/archive'
import type { Lister } from '@tintype/crds/client/lister'
import type { AttemptLine } from '@tintype/crds/delivery-log'
import type { ScreenshotEventType } from '@tintype/crds/event-types'
import { buildEvent, type LinkBase } from '@tintype/crds/events'
import { isScreenshotId, screenshotIdOf } from '@tintype/crds/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { Annotation } from '@tintype/crds/names'
import { accountOf } from '@tintype/crds/record'
import { eventKey, recordKey, tombstoneKey } from '@tintype/crds/storage-keys'
import type { Storage } from '../storage/storage.ts'
import { SCREENSHOTS_BY_ACCOUNT } from './controller.ts'

export interface RecordedEventsDeps {
  screenshots: Pick<Lister<Screenshot>, 'byIndex'>
  /** Absent: only live Screenshots are looked at. */
  storage: Pick<Storage, 'readText' | 'exists'> | undefined
  linkBase: LinkBase
}

const MAX_BYTES = 1024 * 1024

/** Events of the past: the bytes that were kept when a post of them failed, else built again from the record, live or archived. */
export class RecordedEvents {
  readonly #deps: RecordedEventsDeps

  constructor(deps: RecordedEventsDeps) {
    this.#deps = deps
  }

  /** The bytes of an event that the log tells of; undefined when its Screenshot is deleted and they were not kept. @throws RetryableError */
  async load(webhook: Pick<Webhook, 'spec'>, { event, type, screenshot }: AttemptLine): Promise<string | undefined> {
    const kept = await this.#deps.storage?.readText(eventKey(event), MAX_BYTES)
    if (kept !== undefined) return kept
    const record = await this.#find(accountOf(webhook), screenshot)
    if (record === undefined) return undefined
    const built = buildEvent(record, type as ScreenshotEventType, this.#deps.linkBase)
    // An object of the same name that was made anew has other events.
    return built.id === event ? JSON.stringify(built) : undefined
  }

  async #find(account: string, id: string): Promise<Screenshot | undefined> {
    const { screenshots, storage } = this.#deps
    const live = screenshots.byIndex(SCREENSHOTS_BY_ACCOUNT, account).find(({ metadata }) => screenshotIdOf(metadata) === id)
    if (live) return live.metadata.annotations?.[Annotation.deleteRequested] === undefined ? live : undefined
    if (!storage || !isScreenshotId(id) || (await storage.exists(tombstoneKey(account, id)))) return undefined
    const line = await storage.readText(recordKey(account, id), MAX_BYTES)
    return line === undefined ? undefined : parseArchivedLine(line)
  }
}
