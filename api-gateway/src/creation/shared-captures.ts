import { setTimeout as sleep } from 'node:timers/promises'
import type { Account } from '@tintype/crds/kinds/account'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { sharedCaptureKey } from '@tintype/crds/records/storage-keys'
import { LRUCache } from 'lru-cache'
import { unavailable } from '../common/errors.ts'
import type { NewScreenshot, RecordArchive, ScreenshotStore } from '../store/ports.ts'
import { type CreateDeps, createScreenshots, orArchived } from './create.ts'
import type { EntryStoreDeps } from './entry-store.ts'
import type { CreationPlan } from './plan.ts'
import { type PictureKey, type SharedCapture, SharedCaptureStore } from './shared-capture-store.ts'

// All requests for a picture that is not cached wait for one capture. The request that writes the shared capture reserves quota and creates the
// screenshot. The others find its id in the shared capture and reserve nothing.

/** Another process takes over a plan that was not carried out in this time. Repeating a plan is harmless. */
const TAKE_OVER_MILLISECONDS = 10_000
/** An older plan that was never carried out is replaced, because its reservation may already be settled. */
const MAX_PLAN_MILLISECONDS = 600_000
const POLL_MILLISECONDS = 250
/** The operator writes the cache entry shortly after the end of a capture. Until then the screenshot itself is used. */
const JUST_COMPLETED_MILLISECONDS = 30_000
const FIRST_FAILURE_MILLISECONDS = 60_000
const MAX_FAILURE_MILLISECONDS = 3_600_000
/** Failures in memory save reads of the bucket. They are short, so that a deleted record has an effect. */
const REMEMBERED_MILLISECONDS = 60_000
const MAX_REMEMBERED = 10_000
/** Pause between two tries to refresh a stale picture, and after a try without quota or rate. */
const REFRESH_MILLISECONDS = 10_000
const REFUSED_MILLISECONDS = 60_000

/** The capture that a request waits for. */
export interface JoinedCapture {
  screenshot: Screenshot
  /** Time at which the shared capture started. */
  startedAt: Date
  /** End of the time for which a failure is remembered. Absent unless the capture has failed. */
  failedUntil?: Date
  /** True when this process created the screenshot. */
  isCreator: boolean
}

export interface SharedCaptureRequest extends PictureKey {
  owner: Account
  /** Called before anything is written. Throws when the queue is full. */
  admit: () => void
  newPlan: () => CreationPlan
  /** Units of quota that the capture costs. */
  units: number
  build: (plan: CreationPlan) => Promise<readonly NewScreenshot[]>
  /** Called after this process has created the screenshot. */
  onCreate: (screenshot: Screenshot) => void
  /** Aborts on shutdown. */
  signal: AbortSignal
  /** How long to wait for another process that creates the screenshot. */
  waitMilliseconds: number
}

export interface SharedCaptureDeps extends CreateDeps, EntryStoreDeps {
  archive: Pick<RecordArchive, 'find' | 'isDeleted'>
  screenshots: CreateDeps['screenshots'] & Pick<ScreenshotStore, 'find'>
}

/** How long a failure is remembered: 60 s, doubled with each failure in a row, at most one hour. */
export const failureMilliseconds = (failures: number): number =>
  Math.min(MAX_FAILURE_MILLISECONDS, FIRST_FAILURE_MILLISECONDS * 2 ** Math.min(failures, 10))

const timeOf = (screenshot: Screenshot): number => Date.parse(screenshot.status?.completionTime ?? screenshot.metadata.creationTimestamp)

/** Joins requests for the same picture. */
export class SharedCaptures {
  readonly #deps: SharedCaptureDeps
  readonly #store: SharedCaptureStore
  readonly #joining = new Map<string, Promise<JoinedCapture | undefined>>()
  /** Times before which no further capture is tried in the background. */
  readonly #refreshed = new LRUCache<string, number>({ max: MAX_REMEMBERED })
  readonly #failed = new LRUCache<string, { joined: JoinedCapture; until: number }>({ max: MAX_REMEMBERED })

  constructor(deps: SharedCaptureDeps) {
    this.#deps = deps
    this.#store = new SharedCaptureStore(deps)
  }

  /**
   * Returns the capture to wait for, and starts one if there is none. Returns undefined when another process has not created it in time.
   * Requests of this process share one call.
   * @throws ApiError QUEUE_FULL, USAGE_LIMIT_REACHED, RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE
   */
  async join(request: SharedCaptureRequest): Promise<JoinedCapture | undefined> {
    const key = sharedCaptureKey(request.account, request.hash)
    const failed = this.#failed.get(key)
    if (failed && this.#deps.now().getTime() < failed.until) return failed.joined
    const running = this.#joining.get(key)
    if (running) {
      const joined = await running
      return joined && { ...joined, isCreator: false }
    }
    const joining = this.#find(request).finally(() => this.#joining.delete(key))
    this.#joining.set(key, joining)
    const joined = await joining
    if (joined?.failedUntil) this.#remember(key, { ...joined, isCreator: false }, joined.failedUntil)
    return joined
  }

  /** Starts a capture in the background, unless one was tried recently. Never throws: without quota or rate the old picture stays. */
  refresh(request: SharedCaptureRequest): void {
    const key = sharedCaptureKey(request.account, request.hash)
    const now = this.#deps.now().getTime()
    if (now < (this.#refreshed.get(key) ?? 0)) return
    this.#refreshed.set(key, now + REFRESH_MILLISECONDS)
    this.join(request).catch(() => this.#refreshed.set(key, now + REFUSED_MILLISECONDS))
  }

  #remember(key: string, joined: JoinedCapture, failedUntil: Date): void {
    const until = Math.min(failedUntil.getTime(), this.#deps.now().getTime() + REMEMBERED_MILLISECONDS)
    this.#failed.set(key, { joined, until })
  }

  async #find(request: SharedCaptureRequest): Promise<JoinedCapture | undefined> {
    const deadline = performance.now() + request.waitMilliseconds
    do {
      const stored = await this.#store.read(request)
      const joined = stored?.shared ? await this.#joinStored(request, stored.shared) : await this.#start(request, 0, stored?.etag)
      if (joined) return joined
      await sleep(POLL_MILLISECONDS, undefined, { signal: request.signal }).catch(() => {})
    } while (performance.now() < deadline && !request.signal.aborted)
    return undefined
  }

  /** Returns undefined when the caller must look again. */
  async #joinStored(request: SharedCaptureRequest, shared: SharedCapture): Promise<JoinedCapture | undefined> {
    if (shared.isReleased) return this.#start(request, shared.failures, shared.etag)
    const now = this.#deps.now().getTime()
    const screenshot = await this.#findScreenshot(request.account, shared)
    if (screenshot && !isFinished(screenshot)) return toJoined(screenshot, shared, false)
    if (screenshot?.status?.phase === 'Failed') {
      const failedUntil = new Date(timeOf(screenshot) + failureMilliseconds(shared.failures))
      if (now < failedUntil.getTime()) return { ...toJoined(screenshot, shared, false), failedUntil }
      return this.#start(request, shared.failures + 1, shared.etag)
    }
    if (screenshot && now - timeOf(screenshot) < JUST_COMPLETED_MILLISECONDS) return toJoined(screenshot, shared, false)
    if (screenshot || (await this.#isGone(request.account, shared))) return this.#start(request, 0, shared.etag)
    if (now - shared.takenAt.getTime() < TAKE_OVER_MILLISECONDS) return undefined
    const taken = await this.#store.takeOver(request, shared)
    return taken && this.#carryOut(request, taken, true)
  }

  async #findScreenshot(account: string, { plan }: SharedCapture): Promise<Screenshot | undefined> {
    const [id = ''] = plan.ids
    const { screenshots, archive } = this.#deps
    return orArchived(await screenshots.find(id), account, id, archive)
  }

  /** True when the screenshot was deleted, or when the plan is too old to be carried out. */
  async #isGone(account: string, { plan }: SharedCapture): Promise<boolean> {
    const [id = ''] = plan.ids
    if (this.#deps.now().getTime() - Date.parse(plan.at) >= MAX_PLAN_MILLISECONDS) return true
    return this.#deps.archive.isDeleted(account, id)
  }

  async #start(request: SharedCaptureRequest, failures: number, replaced: string | undefined): Promise<JoinedCapture | undefined> {
    request.admit()
    const shared = await this.#store.start(request, request.newPlan(), failures, replaced)
    return shared && this.#carryOut(request, shared, false)
  }

  async #carryOut(request: SharedCaptureRequest, shared: SharedCapture, isRepeated: boolean): Promise<JoinedCapture> {
    const { owner, units, build, onCreate } = request
    const execution = {
      plan: shared.plan,
      isRepeated,
      isRemembered: true,
      complete: async () => {},
      forget: () => this.#store.release(request, shared),
    }
    const { items } = await createScreenshots({ account: owner, execution, units, build: () => build(shared.plan) }, this.#deps)
    const screenshot = items[0]?.screenshot
    if (!screenshot) throw unavailable('the screenshot could not be stored: retry in a few seconds')
    onCreate(screenshot)
    return toJoined(screenshot, shared, true)
  }
}

const toJoined = (screenshot: Screenshot, { plan }: SharedCapture, isCreator: boolean): JoinedCapture => ({
  screenshot,
  startedAt: new Date(plan.at),
  isCreator,
})
