import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import type { FilterLists } from '../blocking/lists.ts'
import type { Browsers, Lease } from '../browser/browsers.ts'
import type { Guard } from '../egress/guard.ts'
import type { EgressPolicy } from '../egress/policy.ts'
import type { HttpCache } from '../http-cache/http-cache.ts'
import { sizeOf } from '../picture/stitch.ts'
import { buildPlan, type CapturePlan } from '../plan/plan.ts'
import { CaptureError, toCaptureError } from '../runtime/errors.ts'
import type { MemoryWatch } from '../runtime/memory-watch.ts'
import { bounded } from '../runtime/race.ts'
import { copyIfAsked } from './copy.ts'
import { openExit } from './exit-policy.ts'
import { buildFailure, buildSuccess, type Outcome } from './outcome.ts'
import { repeatedly } from './repeatedly.ts'
import { type Captured, run } from './run.ts'
import { upload } from './upload.ts'
import { uploadArtifacts } from './upload-artifacts.ts'

/** What captures are made with. */
export interface CaptureParts {
  browsers: Browsers
  /** The way out for what the runner itself sends; absent: nothing is copied to stores of clients. */
  guard?: Pick<Guard, 'connect'>
  /** What the pages may reach. */
  policy: EgressPolicy
  memory: MemoryWatch
  /** What blocking works with. */
  lists?: FilterLists | undefined
  /** What captures of a batch share. */
  httpCache: HttpCache
}

/** What is told of a capture on its way. */
export interface CaptureNews {
  /** The runner may begin another one: what is left of this one needs the browser for drawing only. Called once, if ever. */
  onPageReady?: () => void
  /** The picture is there. */
  onTaken?: () => void
}

/** An attempt's end: what to report, or an error that another attempt may not meet. */
export interface Attempt {
  outcome: Outcome
  error: CaptureError | undefined
}

/**
 * Carries out one order, up to the stored file; every failure becomes an outcome.
 * @param cancelled ends it at once
 * @throws the reason of `cancelled`, and nothing else
 */
export async function capture(order: CaptureOrder, parts: CaptureParts, cancelled: AbortSignal, news: CaptureNews = {}): Promise<Attempt> {
  const started = performance.now()
  const timings: Record<string, number> = {}
  const courseNow = () => ({ processingMilliseconds: performance.now() - started, timings })
  const late = () => new CaptureError('TIMEOUT', 'the capture did not end within its time')
  let isShut = false
  const onPageReady = () => {
    if (!isShut) news.onPageReady?.()
    isShut = true
  }
  using time = bounded(cancelled, Math.max(0, order.deadline - Date.now()), late)
  try {
    const plan = buildPlan(order.url, order.options, order.privateOptions, order.batchId)
    const { picture, findings } = await repeatedly(plan, { deadline: order.deadline, signal: time.signal }, () =>
      photograph({ order, plan, parts, timings, signal: time.signal, onPageReady }),
    )
    onPageReady()
    news.onTaken?.()
    await copyIfAsked(picture, order, plan, parts, time.signal)
    const uploading = performance.now()
    const [stored, artifacts, size] = await Promise.all([
      upload(picture, order.upload, time.signal),
      uploadArtifacts(findings, order, time.signal),
      plan.pages ? undefined : sizeOf(picture),
    ])
    timings.upload = Math.round(performance.now() - uploading)
    const success = { format: plan.picture.format, ...size, stored, artifacts, findings }
    return { outcome: buildSuccess(success, courseNow(), new Date()), error: undefined }
  } catch (cause) {
    cancelled.throwIfAborted()
    const error = toCaptureError(cause)
    return { outcome: buildFailure(error, courseNow(), new Date()), error }
  }
}

interface Photograph {
  order: CaptureOrder
  plan: CapturePlan
  parts: CaptureParts
  timings: Record<string, number>
  signal: AbortSignal
  onPageReady: () => void
}

async function photograph({ order, plan, parts, timings, signal, onPageReady }: Photograph): Promise<Captured> {
  const { browsers, policy, memory, lists } = parts
  const started = performance.now()
  const httpCache = parts.httpCache.open(order.accountName, plan.httpCache?.partition)
  const lease: Lease = await browsers.lend(order.accountName, plan.context, signal)
  timings.browser = Math.round(performance.now() - started)
  const watch = memory.watch(lease.browser.pid)
  let isSound = false
  try {
    openExit(lease.tab.exit, policy, plan)
    const captured = await run({ plan, tab: lease.tab, lists, httpCache, signal, timings, onPageReady })
    isSound = true
    return captured
  } finally {
    watch.end()
    // Not waited for: the file is stored while the next tab is made.
    void browsers.takeBack(lease, isSound)
  }
}
