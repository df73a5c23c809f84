import { setTimeout as sleep } from 'node:timers/promises'
import type { Account } from '@tintype/crds/kinds/account'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { sharedCaptureKey } from '@tintype/crds/records/storage-keys'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { unavailable } from '../common/errors.ts'
import type { NewScreenshot, RecordArchive, ScreenshotStore } from '../store/ports.ts'
import { type CreateDeps, createScreenshots, orArchived } from './create.ts'
import type { CreationPlan } from './plan.ts'
import { type SignedPlan, SignedPlans, type SignedPlansDeps } from './signed-plans.ts'

// All requests for a picture that is not cached wait for one capture. The request that writes its plan reserves quota and creates the screenshot. The
// others find its id in the plan and reserve nothing.

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

export interface SharedCaptureRequest {
  owner: Account
  account: string
  /** The cache hash of the picture. */
  hash: string
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

export interface SharedCaptureDeps extends CreateDeps, SignedPlansDeps {
  archive: Pick<RecordArchive, 'find' | 'isDeleted'>
  screenshots: CreateDeps['screenshots'] & Pick<ScreenshotStore, 'find'>
}

/** How long a failure is remembered: 60 s, doubled with each failure in a row, at most one hour. */
export const failureMilliseconds = (failures: number): number =>
  Math.min(MAX_FAILURE_MILLISECONDS, FIRST_FAILURE_MILLISECONDS * 2 ** Math.min(failures, 10))

/** The state of a shared capture, which is stored with its plan. */
const State = z
  .object({
    /** Number of failed captures directly before this one. */
    failures: z.int().min(0),
    /** True when its process could not carry out the plan and never will, so that the next request starts another shared capture. */
    isReleased: z.boolean().default(false),
  })
  .catch({ failures: 0, isReleased: false })

const keyOf = ({ account, hash }: Pick<SharedCaptureRequest, 'account' | 'hash'>): string => sharedCaptureKey(account, hash)
const timeOf = (screenshot: Screenshot): number => Date.parse(screenshot.status?.completionTime ?? screenshot.metadata.creationTimestamp)

/** Joins requests for the same picture. */
export class SharedCaptures {
  readonly #deps: SharedCaptureDeps
  readonly #plans: SignedPlans
  readonly #joining = new Map<string, Promise<JoinedCapture | undefined>>()
  /** Times before which no further capture is tried in the background. */
  readonly #refreshed = new LRUCache<string, number>({ max: MAX_REMEMBERED })
  readonly #failed = new LRUCache<string, { joined: JoinedCapture; until: number }>({ max: MAX_REMEMBERED })

  constructor(deps: SharedCaptureDeps) {
    this.#deps = deps
    this.#plans = new SignedPlans(deps)
  }

  /**
   * Returns the capture to wait for, and starts one if there is none. Returns undefined when another process has not created it in time.
   * Requests of this process share one call.
   * @throws ApiError QUEUE_FULL, USAGE_LIMIT_REACHED, RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE
   */
  async join(request: SharedCaptureRequest): Promise<JoinedCapture | undefined> {
    const key = keyOf(request)
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
    const key = keyOf(request)
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
      const stored = await this.#plans.read(keyOf(request))
      const joined = stored?.plan ? await this.#joinStored(request, stored) : await this.#start(request, 0, stored?.etag)
      if (joined) return joined
      await sleep(POLL_MILLISECONDS, undefined, { signal: request.signal }).catch(() => {})
    } while (performance.now() < deadline && !request.signal.aborted)
    return undefined
  }

  /** Returns undefined when the caller must look again. */
  async #joinStored(request: SharedCaptureRequest, shared: SignedPlan): Promise<JoinedCapture | undefined> {
    const { failures, isReleased } = State.parse(shared.result)
    if (isReleased) return this.#start(request, failures, shared.etag)
    const now = this.#deps.now().getTime()
    const screenshot = await this.#findScreenshot(request.account, shared)
    if (screenshot && !isFinished(screenshot)) return toJoined(screenshot, shared, false)
    if (screenshot?.status?.phase === 'Failed') {
      const failedUntil = new Date(timeOf(screenshot) + failureMilliseconds(failures))
      if (now < failedUntil.getTime()) return { ...toJoined(screenshot, shared, false), failedUntil }
      return this.#start(request, failures + 1, shared.etag)
    }
    if (screenshot && now - timeOf(screenshot) < JUST_COMPLETED_MILLISECONDS) return toJoined(screenshot, shared, false)
    if (screenshot || (await this.#isGone(request.account, shared))) return this.#start(request, 0, shared.etag)
    if (now - Date.parse(shared.takenAt) < TAKE_OVER_MILLISECONDS) return undefined
    const taken = await this.#plans.takeOver(shared)
    return taken && this.#create(request, taken, true)
  }

  async #findScreenshot(account: string, { plan }: SignedPlan): Promise<Screenshot | undefined> {
    const [id = ''] = plan.ids
    const { screenshots, archive } = this.#deps
    return orArchived(await screenshots.find(id), account, id, archive)
  }

  /** True when the screenshot was deleted, or when the plan is too old to be carried out. */
  async #isGone(account: string, { plan }: SignedPlan): Promise<boolean> {
    const [id = ''] = plan.ids
    if (this.#deps.now().getTime() - Date.parse(plan.at) >= MAX_PLAN_MILLISECONDS) return true
    return this.#deps.archive.isDeleted(account, id)
  }

  async #start(request: SharedCaptureRequest, failures: number, replaced: string | undefined): Promise<JoinedCapture | undefined> {
    request.admit()
    const { account, hash, newPlan } = request
    const content = { plan: newPlan(), result: { failures, isReleased: false } }
    const shared = await this.#plans.start(keyOf(request), { account, route: 'GET /take', body: hash }, content, replaced)
    return shared && this.#create(request, shared, false)
  }

  async #create(request: SharedCaptureRequest, shared: SignedPlan, isRepeated: boolean): Promise<JoinedCapture> {
    const { owner, units, build, onCreate } = request
    const execution = {
      plan: shared.plan,
      isRepeated,
      isRemembered: true,
      complete: async () => {},
      // Does nothing when another process has taken it over.
      forget: async () => void (await this.#plans.complete(shared, { ...State.parse(shared.result), isReleased: true })),
    }
    const { items } = await createScreenshots({ account: owner, execution, units, build: () => build(shared.plan) }, this.#deps)
    const screenshot = items[0]?.screenshot
    if (!screenshot) throw unavailable('the screenshot could not be stored: retry in a few seconds')
    onCreate(screenshot)
    return toJoined(screenshot, shared, true)
  }
}

const toJoined = (screenshot: Screenshot, { plan }: SignedPlan, isCreator: boolean): JoinedCapture => ({
  screenshot,
  startedAt: new Date(plan.at),
  isCreator,
})
