import { isAlreadyExists, isConflict, isInvalid, isNotFound } from '@tintype/crds/client/kube-error'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import { Store } from '@tintype/crds/client/lister'
import type { Log } from '@tintype/crds/client/log'
import { Reflector, type ReflectorMetrics } from '@tintype/crds/client/reflector'
import { mergePatch, Resource, tintypeResource } from '@tintype/crds/client/resource'
import { isScreenshotId, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { Annotation, toObjectName } from '@tintype/crds/identifiers/names'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf, showsEveryOption } from '@tintype/crds/records/record'
import { EVENT_TYPES } from '@tintype/crds/schema/event-types'
import { throwApiError, toApiError } from '../../../store/kube-records.ts'
import type { NewScreenshot, ScreenshotStore } from '../../../store/ports.ts'
import { readInTurn, WaitingRequests } from '../../../store/turns.ts'
import { findOpenDeliveries, hasOpenDeliveries, isHidden } from './screenshot-state.ts'

// rbac: tintype.dev/screenshots get,list,watch,create,delete,patch
// (patch: the annotation that requests a deletion after the deliveries have completed)

const screenshots = tintypeResource<Screenshot>('Screenshot', 'screenshots')

/** A client is waiting, so an early 503 is better than a late success. */
const WRITE_MILLISECONDS = 10_000
const READ_MILLISECONDS = 3_000

const idOf = ({ metadata }: Screenshot): string => screenshotIdOf(metadata)
const ACCOUNT = 'account'
const ID = 'id'
const BATCH = 'batch'
const FINISHED = 'finished'
const YES = 'yes'
const OPEN_DELIVERY = 'open-delivery'

interface KubeScreenshotsOptions {
  http: KubeHttp
  log: Log
  metrics: ReflectorMetrics
  /** Number of finished Screenshots above which creates are rejected, because the archive does not keep up. Default: no limit. */
  maxFinished?: number
}

const batchOf = (shot: Screenshot): string | undefined =>
  shot.spec.batchId === undefined || isHidden(shot) ? undefined : `${accountOf(shot)}/${shot.spec.batchId}`

const shown = (found: Screenshot | undefined): Screenshot | undefined => (found && isHidden(found) ? undefined : found)

/** Screenshots in the API server, with an informer cache. */
export class KubeScreenshots implements ScreenshotStore {
  readonly reflector: Reflector<Screenshot>
  readonly #client: Resource<Screenshot>
  readonly #maxFinished: number
  /** Held requests, by screenshot id. */
  readonly #waiting = new WaitingRequests()

  constructor({ http, log, metrics, maxFinished = Number.POSITIVE_INFINITY }: KubeScreenshotsOptions) {
    this.#maxFinished = maxFinished
    const store = new Store<Screenshot>()
      // Ids contain an inverted timestamp, so the natural order is newest first.
      .addIndex(ACCOUNT, (shot) => (isHidden(shot) ? undefined : accountOf(shot)), { orderBy: idOf })
      .addIndex(ID, idOf)
      .addIndex(BATCH, batchOf, { orderBy: idOf })
      .addIndex(OPEN_DELIVERY, (shot) => findOpenDeliveries(shot).map((delivery) => `${accountOf(shot)}/${delivery}`))
      .addIndex(FINISHED, (shot) => (isFinished(shot) ? YES : undefined))
    this.reflector = new Reflector({ http, resource: screenshots, store, log, metrics })
    this.#client = new Resource(http, screenshots)
    this.reflector.addListener(({ object }) => this.#waiting.wake(idOf(object)))
  }

  async create(screenshot: NewScreenshot): Promise<Screenshot> {
    try {
      // The name is unique, so a retry after an unknown outcome either creates the object or finds it.
      const created = await this.#client.create(screenshot as Screenshot, { timeoutMilliseconds: WRITE_MILLISECONDS, repeat: 'always' })
      this.reflector.noteWritten(created)
      return created
    } catch (error) {
      if (!isAlreadyExists(error)) throw toApiError(error)
      const found = await this.#client.get(screenshot.metadata.name, { timeoutMilliseconds: READ_MILLISECONDS }).catch(throwApiError)
      this.reflector.noteWritten(found)
      return found
    }
  }

  async find(id: string): Promise<Screenshot | undefined> {
    if (!isScreenshotId(id)) return undefined
    const cached = this.#cached(id)
    if (!cached) return shown(await this.#fetch(id))
    return shown(showsEveryOption(cached) ? cached : await readInTurn(accountOf(cached), () => this.#fetch(id, cached.metadata.name)))
  }

  async findLatest(id: string): Promise<Screenshot | undefined> {
    if (!isScreenshotId(id)) return undefined
    return shown(await this.#fetch(id, this.#cached(id)?.metadata.name))
  }

  page(account: string, after: string | undefined, limit: number): Screenshot[] {
    return this.reflector.lister.after(ACCOUNT, account, after, limit)
  }

  findLiveOfBatch(account: string, batchId: string): Screenshot[] {
    return this.reflector.lister.byIndex(BATCH, `${account}/${batchId}`)
  }

  findLive(id: string): Screenshot | undefined {
    return shown(this.#cached(id))
  }

  countOpenDeliveries(account: string, webhook: string): number {
    const count = (event: string): number => this.reflector.lister.countByIndex(OPEN_DELIVERY, `${account}/${webhook}/${event}`)
    return EVENT_TYPES.reduce((sum, event) => sum + count(event), 0)
  }

  isFull(): boolean {
    return this.reflector.lister.countByIndex(FINISHED, YES) >= this.#maxFinished
  }

  async delete(screenshot: Screenshot): Promise<boolean> {
    const { name, uid } = screenshot.metadata
    try {
      if (hasOpenDeliveries(screenshot)) await this.#requestDeletion(screenshot)
      else {
        await this.#client.delete(name, { uid, timeoutMilliseconds: WRITE_MILLISECONDS })
        this.reflector.noteDeleted(screenshot)
      }
      return true
    } catch (error) {
      // A conflict means that another object now has the name. Names that users choose can be reused.
      if (isNotFound(error) || isConflict(error) || isInvalid(error)) return false
      throw toApiError(error)
    }
  }

  async waitUntilFinished(screenshot: Screenshot, milliseconds: number, signal: AbortSignal): Promise<Screenshot | undefined> {
    const id = idOf(screenshot)
    const isOver = (): boolean => {
      const shot = this.findLive(id)
      return shot === undefined || isFinished(shot)
    }
    await this.#waiting.until(isOver, { key: id, milliseconds, signal })
    const found = this.findLive(id)
    return found && !showsEveryOption(found) ? this.find(id) : found
  }

  /** Number of held requests. */
  get waitingCount(): number {
    return this.#waiting.count
  }

  #cached(id: string): Screenshot | undefined {
    return this.reflector.lister.byIndex(ID, id)[0]
  }

  /** Reads from the API server, because another replica may have just created it. */
  async #fetch(id: string, name = toObjectName(id)): Promise<Screenshot | undefined> {
    const found = await this.#client.find(name, { timeoutMilliseconds: READ_MILLISECONDS }).catch(throwApiError)
    if (found) this.reflector.noteWritten(found)
    // The object name can match although the object has another id.
    return found && idOf(found) === id ? found : undefined
  }

  async #requestDeletion({ metadata: { name, uid } }: Screenshot): Promise<void> {
    const annotations = { [Annotation.deleteRequested]: new Date().toISOString() }
    const marked = await this.#client.patch(name, mergePatch({ metadata: { annotations } }, { uid }), {
      timeoutMilliseconds: WRITE_MILLISECONDS,
    })
    this.reflector.noteWritten(marked)
  }
}
