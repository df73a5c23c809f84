import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import { retry } from '@tintype/crds/runtime/retry'
import type { FilterLists } from '../blocking/lists.ts'
import type { Browsers, Lease } from '../browser/browsers.ts'
import { findUnfit } from '../comparison/decide.ts'
import type { Guard } from '../egress/guard.ts'
import type { EgressPolicy } from '../egress/route.ts'
import type { EgressSession } from '../egress/session.ts'
import type { HttpCache } from '../http-cache/http-cache.ts'
import { sizeOf } from '../picture/stitch.ts'
import type { NetworkPlan } from '../plan/network.ts'
import { buildPlan, type CapturePlan, formatOf, withFrameControl } from '../plan/plan.ts'
import { shortenWait, waitAsCompared } from '../plan/waiting.ts'
import { CaptureError, FrameHungError, toCaptureError } from '../runtime/errors.ts'
import { hashFonts } from '../runtime/fonts.ts'
import type { MemoryWatch } from '../runtime/memory-watch.ts'
import { bounded, pause } from '../runtime/race.ts'
import { TEXT_VERSION, VERSION } from '../runtime/version.ts'
import { openRecorder, type Recorder, type RecorderParts } from '../video/directory.ts'
import { compareTwice, openBaseline } from './compare.ts'
import { copyIfAsked } from './copy.ts'
import { buildFailure, buildSuccess, type Outcome } from './outcome.ts'
import { type Captured, run } from './run.ts'
import { upload, uploadArtifacts } from './upload.ts'

/** What captures need from the runner. */
export interface CaptureParts {
  browsers: Browsers
  /** Connects the runner's own requests; absent: no copies to clients' storage. */
  guard?: Pick<Guard, 'connect'>
  /** What pages may reach. */
  policy: EgressPolicy
  memory: MemoryWatch
  /** Filter lists for blocking. */
  lists?: FilterLists | undefined
  /** Cached responses that captures of a batch share. */
  httpCache: HttpCache
  /** Absent: this runner records no videos. */
  recorder?: Recorder | undefined
}

/** Callbacks during a capture. */
export interface CaptureEvents {
  /** The runner may start another capture, because this one needs the browser only for its screenshot. Called at most once. */
  onPageReady?: () => void
  /** The screenshot has been taken. */
  onTaken?: () => void
}

/** Result of an attempt: the outcome to report, and the error if it failed. */
export interface Attempt {
  outcome: Outcome
  error: CaptureError | undefined
}

/**
 * Runs one capture, including the upload. Every failure becomes an outcome.
 * @param canceled aborts the capture at once
 * @throws only the reason of `canceled`
 */
export async function capture(
  order: CaptureOrder,
  parts: CaptureParts,
  canceled: AbortSignal,
  events: CaptureEvents = {},
): Promise<Attempt> {
  const started = performance.now()
  const timings: Record<string, number> = {}
  const durations = () => ({ processingMilliseconds: performance.now() - started, timings })
  const late = () => new CaptureError('TIMEOUT', 'the capture did not end within its time')
  let isPageReady = false
  const onPageReady = () => {
    if (!isPageReady) events.onPageReady?.()
    isPageReady = true
  }
  using time = bounded(canceled, Math.max(0, order.deadline - Date.now()), late)
  try {
    const built = buildPlan(order.url, order.options, order.privateOptions, order)
    const waiting = order.isWatched ? waitAsCompared(built) : built
    const plan = { ...shortenWait(waiting, order.moving), movingElements: order.moving?.elements ?? [] }
    await using baseline = await openBaseline(order.baseline, time.signal)
    await using recorder = await openRecorder(plan, parts, order.upload.maxBytes)
    // With a baseline, the browser may be needed again after the screenshot.
    const take = (timings: Record<string, number>, plan: CapturePlan) =>
      repeatedly(plan.options, { deadline: order.deadline, signal: time.signal }, async (isRealTime) => {
        const captured = await takeScreenshot({
          ...{ order, plan, parts, recorder, isRealTime, timings },
          ...{ signal: time.signal, onPageReady: baseline ? () => {} : onPageReady },
        })
        return withFitness(captured, plan, order)
      })
    const first = await take(timings, plan)
    const captureMilliseconds = performance.now() - started
    const comparing = performance.now()
    const { picture, video, findings } = baseline
      ? await compareTwice(first, {
          ...{ baseline, plan, deadline: order.deadline, captureMilliseconds, signal: time.signal },
          captureAgain: (moving) => take({}, { ...plan, movingElements: [...plan.movingElements, ...moving], isSecondLoad: true }),
        })
      : first
    if (baseline) timings.compare = Math.round(performance.now() - comparing)
    const content = video ?? picture
    onPageReady()
    events.onTaken?.()
    await copyIfAsked(content, order, plan, { ...parts, policy: limitHosts(parts.policy, plan) }, time.signal)
    const uploading = performance.now()
    const [stored, artifacts, size] = await Promise.all([
      upload(content, order.upload, time.signal),
      uploadArtifacts(findings, order, time.signal),
      sizeOfFile(plan, picture),
    ])
    timings.upload = Math.round(performance.now() - uploading)
    const success = { format: formatOf(plan), ...size, ...(video ? { video } : {}), stored, artifacts, findings }
    return { outcome: buildSuccess(success, durations(), new Date()), error: undefined }
  } catch (cause) {
    canceled.throwIfAborted()
    const error = toCaptureError(cause)
    return { outcome: buildFailure(error, durations(), new Date()), error }
  }
}

/** Errors that may be temporary: a broken connection, a proxy failure. An unknown name or a slow page would fail again. */
const TRANSIENT = new Set(['NAVIGATION_FAILED', 'PROXY_FAILED'])
/** Minimum time left for another attempt. */
const WORTHWHILE_MILLISECONDS = 5_000

/**
 * Takes the screenshot, with retries if needed.
 * @param take one attempt in its own context; in real time after a frame that never ended
 * @throws the last attempt's error
 */
export async function repeatedly<Taken extends Pick<Captured, 'findings'>>(
  { retries, retryDelay }: Pick<EffectiveOptions, 'retries' | 'retryDelay'>,
  { deadline, signal }: { deadline: number; signal: AbortSignal },
  take: (isRealTime: boolean) => Promise<Taken>,
): Promise<Taken> {
  const work = async (attempt: number): Promise<Taken> => {
    const captured = await inRealTimeAfterHang(take)
    if (attempt > 1) captured.findings.warnings.push(`the capture succeeded at retry ${attempt - 1} of ${retries}`)
    return captured
  }
  const delayOf = (error: unknown, attempt: number): number | undefined => {
    const left = deadline - Date.now() - retryDelay
    return attempt > retries || left < WORTHWHILE_MILLISECONDS || !isTransient(error) ? undefined : retryDelay
  }
  return retry(work, { delayOf, wait: (milliseconds) => pause(milliseconds, signal) })
}

const isTransient = (error: unknown): boolean => error instanceof CaptureError && TRANSIENT.has(error.code)

/** If a frame of the browser never ends, takes the screenshot once more in another browser, in a tab that draws by itself and has no virtual clock. */
async function inRealTimeAfterHang<Taken extends Pick<Captured, 'findings'>>(
  take: (isRealTime: boolean) => Promise<Taken>,
): Promise<Taken> {
  try {
    return await take(false)
  } catch (error) {
    if (!(error instanceof FrameHungError)) throw error
  }
  const captured = await take(true)
  captured.findings.warnings.push('the browser stopped drawing, so the page was loaded a second time')
  return captured
}

/** Notes whether the picture shows the page: the one of the earlier picture, or of the URL. */
function withFitness(captured: Captured, { url, comparison }: CapturePlan, { baseline }: CaptureOrder): Captured {
  const expected = { url: baseline?.finalUrl ?? url, forms: baseline?.forms }
  const unfit = findUnfit(captured.findings, expected, comparison.acceptedStatuses)
  if (unfit) captured.findings.unfit = unfit
  return captured
}

const sizeOfFile = async ({ video, pages }: CapturePlan, picture: Buffer) => (pages ? undefined : (video?.size ?? sizeOf(picture)))

interface ScreenshotInput {
  order: CaptureOrder
  plan: CapturePlan
  parts: CaptureParts
  recorder: RecorderParts | undefined
  isRealTime: boolean
  timings: Record<string, number>
  signal: AbortSignal
  onPageReady: () => void
}

async function takeScreenshot({
  order,
  plan: given,
  parts,
  recorder,
  isRealTime,
  timings,
  signal,
  onPageReady,
}: ScreenshotInput): Promise<Captured> {
  const { browsers, policy, memory, lists } = parts
  const plan = browsers.beginsFrames(order.accountName) && !isRealTime ? withFrameControl(given) : given
  const started = performance.now()
  const httpCache = parts.httpCache.open(order.accountName, plan.httpCache?.partition)
  const lease: Lease = await browsers.lend(order.accountName, plan.context, signal)
  timings.browser = Math.round(performance.now() - started)
  const watch = memory.watch(lease.browser.pid)
  let isSound = false
  try {
    armEgress(lease.tab.egress, policy, plan)
    const captured = await run({ plan, tab: lease.tab, lists, httpCache, recorder, signal, timings, onPageReady })
    isSound = true
    const { version } = lease.browser
    const fonts = await hashFonts()
    captured.findings.engine = { chromium: version, runner: VERSION, architecture: process.arch, fonts, text: TEXT_VERSION }
    return captured
  } catch (error) {
    throw watch.explain(error)
  } finally {
    // Not awaited, so that the upload runs while the next tab opens.
    void browsers.takeBack(lease, isSound).finally(watch.end)
  }
}

/** What decides about the network of a capture. */
type Limits = NetworkPlan & Pick<CapturePlan, 'capturePolicy'>

/** Arms a capture's egress session with the pool's rules, the limits of the API key and the client's proxy. */
export function armEgress(session: Pick<EgressSession, 'arm'>, pool: EgressPolicy, plan: Limits): void {
  // A session that was never armed refuses everything.
  if (plan.isOffline) return
  const policy = limitHosts(pool, plan)
  session.arm(plan.proxy === undefined ? policy : withProxy(policy, plan.proxy))
}

function limitHosts(policy: EgressPolicy, { capturePolicy }: Pick<CapturePlan, 'capturePolicy'>): EgressPolicy {
  const { keyId, allowedRequestHosts: hosts } = capturePolicy ?? {}
  return keyId === undefined || hosts === undefined ? policy : { ...policy, limit: { keyId, hosts } }
}

function withProxy(policy: EgressPolicy, proxy: NonNullable<NetworkPlan['proxy']>): EgressPolicy {
  const { parentProxy } = policy
  return { ...policy, parentProxy: { ...proxy, ...(parentProxy?.chosenBy === 'operator' ? { via: parentProxy } : {}) } }
}
