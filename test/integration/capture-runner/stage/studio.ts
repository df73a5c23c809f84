import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ScreenshotPolicy } from '@tintype/crds/kinds/capture-policy'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import type { PrivateOptions } from '@tintype/crds/options/private'
import pino from 'pino'
import type { FilterLists } from '../../../../capture-runner/src/blocking/lists.ts'
import { flagsOf, launchBrowser } from '../../../../capture-runner/src/browser/browser.ts'
import { Browsers } from '../../../../capture-runner/src/browser/browsers.ts'
import { armEgress, repeatedly } from '../../../../capture-runner/src/capture/capture.ts'
import { type Captured, run } from '../../../../capture-runner/src/capture/run.ts'
import { createGuard, type GuardConfig } from '../../../../capture-runner/src/egress/guard.ts'
import type { EgressPolicy } from '../../../../capture-runner/src/egress/route.ts'
import { HttpCache } from '../../../../capture-runner/src/http-cache/http-cache.ts'
import { buildPlan, withFrameControl } from '../../../../capture-runner/src/plan/plan.ts'
import { CaptureError } from '../../../../capture-runner/src/runtime/errors.ts'
import { createMemoryWatch } from '../../../../capture-runner/src/runtime/memory-watch.ts'
import type { RecorderParts } from '../../../../capture-runner/src/video/directory.ts'

/** A capture and how it went. */
export interface Taken extends Captured {
  timings: Record<string, number>
  browserPid: number
}

/** A runner's browsers without its server, shared by the capture tests. */
export type Studio = Awaited<ReturnType<typeof openStudio>>

export interface How {
  account?: string
  /** The capture's batch. */
  batchId?: string
  /** The hosts that the API key allows. */
  capturePolicy?: ScreenshotPolicy
  signal?: AbortSignal
  policy?: EgressPolicy
  privateOptions?: PrivateOptions
  onPageReady?: () => void
  /** Limit of a video, in bytes. */
  maxBytes?: number
  /** Never gives the page a virtual clock. */
  isRealTime?: boolean
}

export const CHROMIUM = process.env.TINTYPE_CHROMIUM ?? '/usr/lib/chromium/chromium-headless-shell'

// Uses the font configuration of the image.
process.env.FONTCONFIG_FILE ??= join(import.meta.dirname, '../../../../capture-runner/fonts/fonts.conf')

const MAX_VIDEO_BYTES = 100_000_000

/** Allows loopback, where the pages are, unless the rules are other ones. */
export const policyWith = (rules: Partial<EgressPolicy['rules']>): EgressPolicy => ({
  rules: { allowedHosts: [], allowedCidrs: ['127.0.0.0/8'], deniedCidrs: [], allowedPorts: [], ...rules },
  maxBytes: 512 * 1024 * 1024,
})
export const LOOPBACK_POLICY = policyWith({})

export interface StudioOptions {
  isolation?: 'context' | 'browser'
  memoryLimitBytes?: number
  /** Memory that a browser may retain between captures. */
  maxRetainedBytes?: number
  /** Captures after which a browser is replaced. */
  maxCaptures?: number
  /** Filter lists; absent: blocking options are rejected. */
  lists?: FilterLists
  /** Settings of the guard. */
  guard?: GuardConfig
  /** Additional flags of the browser. */
  extraArguments?: readonly string[]
  /** The runner begins the frames of its usual captures. */
  hasFrameControl?: boolean
  /** Records videos. */
  video?: boolean | Partial<RecorderParts>
}

/** Starts the browsers. Chromium's own sandbox does not work as root. */
export async function openStudio({
  isolation = 'context',
  memoryLimitBytes,
  maxRetainedBytes,
  maxCaptures,
  lists,
  guard: guardConfig,
  extraArguments = [],
  hasFrameControl = process.env.TINTYPE_FRAME_CONTROL !== 'false',
  video,
}: StudioOptions = {}) {
  const log = pino({ level: process.env.TINTYPE_LOG_LEVEL ?? 'silent' })
  const guard = createGuard({ ownAddresses: [], ...guardConfig })
  const chromiumSandbox = process.getuid?.() !== 0
  const flags = [...extraArguments, ...flagsOf(hasFrameControl, Boolean(video))]
  const launch = () => launchBrowser({ executablePath: CHROMIUM, chromiumSandbox, guard, extraArguments: flags })
  const directory = video ? await mkdtemp(join(tmpdir(), 'tintype-videos-')) : undefined
  const recorderOf = async (maxBytes = MAX_VIDEO_BYTES): Promise<RecorderParts | undefined> =>
    directory === undefined
      ? undefined
      : {
          command: { program: 'ffmpeg', isUnshared: false },
          directory: await mkdtemp(join(directory, 'video-')),
          maxBytes,
          ...(typeof video === 'object' ? video : {}),
        }
  const limits = { ...(maxRetainedBytes === undefined ? {} : { maxRetainedBytes }), ...(maxCaptures === undefined ? {} : { maxCaptures }) }
  const browsers = new Browsers({ launch, isolation, log, hasFrameControl, ...limits })
  const memory = createMemoryWatch({ limitBytes: memoryLimitBytes, log })
  const httpCache = new HttpCache()
  await browsers.start()
  /** Captures like a runner, without the upload. The file of a video remains until the end. */
  const shoot = (url: string, options?: CaptureOptions, how?: How): Promise<Taken> =>
    repeatedly({ retries: 0, retryDelay: 0 }, { deadline: 0, signal: AbortSignal.any([]) }, (isRealTime) =>
      shootOnce(url, options, { ...how, ...(isRealTime ? { isRealTime } : {}) }),
    )
  const shootOnce = async (url: string, options?: CaptureOptions, how: How = {}): Promise<Taken> => {
    const {
      account = 'default',
      signal = AbortSignal.timeout(120_000),
      policy = LOOPBACK_POLICY,
      privateOptions,
      batchId,
      capturePolicy,
      onPageReady,
      maxBytes,
      isRealTime,
    } = how
    const built = buildPlan(url, options, privateOptions, { batchId, capturePolicy })
    const plan = browsers.beginsFrames(account) && !isRealTime ? withFrameControl(built) : built
    const shared = httpCache.open(account, plan.httpCache?.partition)
    const timings: Record<string, number> = {}
    const lease = await browsers.lend(account, plan.context, signal)
    const watch = memory.watch(lease.browser.pid)
    let isSound = false
    try {
      armEgress(lease.tab.egress, policy, plan)
      const captured = await run({
        plan,
        tab: lease.tab,
        lists,
        httpCache: shared,
        recorder: plan.video ? await recorderOf(maxBytes) : undefined,
        signal,
        timings,
        ...(onPageReady ? { onPageReady } : {}),
      })
      isSound = true
      return { ...captured, timings, browserPid: lease.browser.pid }
    } catch (error) {
      throw watch.explain(error)
    } finally {
      void browsers.takeBack(lease, isSound).finally(watch.end)
    }
  }
  return {
    browsers,
    httpCache,
    shoot,
    /** The error of a capture that must fail. */
    shootInVain: async (...args: Parameters<typeof shoot>) => {
      const error = await shoot(...args).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      if (error instanceof CaptureError) return error
      throw error ?? new Error('the capture succeeded')
    },
    close: async () => {
      await browsers.stop()
      if (directory !== undefined) await rm(directory, { recursive: true, force: true })
    },
  }
}
