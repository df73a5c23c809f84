import { z } from 'zod'
import { ScreenshotPolicy } from '../kinds/capture-policy.ts'
import { Engine, FormKind, IgnoredElements, MovingParts } from '../kinds/comparison.ts'
import { ARTIFACT_TYPES } from '../options/artifacts.ts'
import { CaptureOptions, type EffectiveOptions, withDefaults } from '../options/catalog.ts'
import { framesOf } from '../options/output/formats.ts'
import { SealedPrivateOptions } from '../options/private.ts'

// The protocol between operator and runner, HTTP on the runner's port.
//
//   GET    /identity        → 200 Identity                             the key to encrypt to, authenticated by the pod's token
//   POST   /captures        → 202 | 200 CaptureState | 409 CaptureState  body: JWE of CaptureOrder; 200: already known; 409: busy with another
//   GET    /captures/:uid   → 200 CaptureState | 404 [GivenUp]           `Prefer: wait=<seconds>`: responds when the capture is not running;
//                                                                      `wait=<seconds>, until=taken`: also when its picture is being taken
//   DELETE /captures/:uid   → 202 | 404                                 cancels: nothing is uploaded or reported afterwards
//   GET    /healthz, /readyz                                            for the kubelet; the only paths without a signature
//
// All other requests have `Authorization: Bearer <JWS>`: EdDSA, audience = the pod's uid, at most 30 s old, with `method`, `path` and
// the base64url SHA-256 of the body (`sha256`). `jti` is `<uid>/<attempt>` for an order and random for the rest; each jti is accepted once.
// Requests without a valid signature receive 401 before they are parsed.

/** Lifetime of a signature in seconds. */
export const SIGNATURE_SECONDS = 30

/** The claims of a signed request. */
export const SignedRequest = z.object({ method: z.string(), path: z.string(), sha256: z.string(), jti: z.string().max(128) })
export type SignedRequest = z.infer<typeof SignedRequest>

/** Maximum length of the explanations of a runner. Longer ones would make the whole identity invalid. */
export const MAX_DETAIL_LENGTH = 1024

/** Isolation of the browser, as the runner detected it at startup. */
export const SandboxReport = z.object({
  /** Chromium's own sandbox is enabled. */
  chromiumSandbox: z.boolean(),
  /** The browser runs in its own namespaces and can reach the network only through the egress guard. */
  jail: z.boolean(),
  /** Why one is false, and what to do; empty if both are true. */
  detail: z.string().max(MAX_DETAIL_LENGTH),
})
export type SandboxReport = z.infer<typeof SandboxReport>

/** Whether a pod that was started to record videos can do so. */
export const VideoReport = z.object({
  available: z.boolean(),
  /** Why not; empty if it can. */
  detail: z.string().max(MAX_DETAIL_LENGTH),
})
export type VideoReport = z.infer<typeof VideoReport>

/** The identity of a runner. `token` is a projected token of audience `tintype-dispatch`, for which TokenReview returns the pod's uid. */
export const Identity = z.object({
  publicKey: z.object({ kty: z.literal('OKP'), crv: z.literal('X25519'), x: z.string() }),
  token: z.string(),
  sandbox: SandboxReport,
  version: z.string(),
  /** Captures that this pod has started, and the account of the current browser, so that a new leader can distinguish used pods from new ones. */
  captures: z.int().min(0).optional(),
  accountName: z.string().max(63).optional(),
  /** Date of the newest filter list; absent if the image has none. */
  listsUpdated: z.iso.datetime().optional(),
  /** Present if the pod belongs to a pool that records videos. */
  video: VideoReport.optional(),
})
export type Identity = z.infer<typeof Identity>

/** A presigned PUT of one object; `If-None-Match: *` is among the headers. */
const UploadTarget = z.object({ url: z.string(), headers: z.record(z.string(), z.string()), maxBytes: z.int() })

/** The picture to compare with: a presigned GET, which fails with 412 if the object has another ETag. */
export const Baseline = z.object({
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  maxBytes: z.int(),
  /** Areas that the capture of that picture ignored. */
  ignored: z.array(IgnoredElements).optional(),
  /** URL of its page after redirects, and the forms that the page shows. Absent in records of early versions. */
  finalUrl: z.string().optional(),
  forms: z.array(FormKind).optional(),
  /** What drew the picture; absent in records of early versions. */
  engine: Engine.optional(),
  /** A presigned GET of the visible text of its page. */
  text: z.object({ url: z.string(), headers: z.record(z.string(), z.string()), maxBytes: z.int() }).optional(),
})
export type Baseline = z.infer<typeof Baseline>

/** One capture to run. Sent as compact JWE (ECDH-ES, A256GCM), encrypted to the runner's key. */
export const CaptureOrder = z.object({
  uid: z.string(),
  name: z.string(),
  namespace: z.string(),
  accountName: z.string(),
  /** Batch that created the Screenshot. */
  batchId: z.string().max(64).optional(),
  attempt: z.int().min(1),
  url: z.string(),
  options: CaptureOptions.optional(),
  /** Must not be logged or reported. */
  privateOptions: SealedPrivateOptions.optional(),
  upload: UploadTarget,
  /** Upload URLs of the files beside the picture. */
  artifacts: z
    .array(z.object({ type: z.enum(ARTIFACT_TYPES), upload: UploadTarget }))
    .max(16)
    .optional(),
  /** Absent: nothing is compared. */
  baseline: Baseline.optional(),
  /** Later runs of a schedule are compared with the picture, so it waits as long as they do. */
  isWatched: z.literal(true).optional(),
  /** Hosts that the capture is limited to, and the API key that they are of. Absent: no limits. */
  capturePolicy: ScreenshotPolicy.optional(),
  /** What moved in the last run of the schedule. */
  moving: MovingParts.optional(),
  /** Unix time in milliseconds at which the attempt ends. */
  deadline: z.int(),
  traceparent: z.string().optional(),
})
export type CaptureOrder = z.infer<typeof CaptureOrder>

/** State of a capture at its runner. `reporting`: the file is stored and the status patch is being retried. `done`: the result is reported. */
export const CaptureState = z.object({
  uid: z.string(),
  attempt: z.int(),
  state: z.enum(['running', 'reporting', 'done']),
  /** The page is ready, and the picture is being taken or stored. Meanwhile the runner can start another capture. */
  isTaken: z.boolean().optional(),
})
export type CaptureState = z.infer<typeof CaptureState>

/** Code of a capture that was abandoned because the runner is stopping. */
export const STOPPING = 'STOPPING'

/** Code of a capture that was abandoned because its runner was short of memory, and the page is not known to be the cause. */
export const OUT_OF_MEMORY = 'OUT_OF_MEMORY'

/**
 * An attempt that a runner has abandoned without a report. Nothing more is uploaded or reported for it. `code` is that of the failure, or
 * {@link STOPPING} or {@link OUT_OF_MEMORY}.
 */
export const GivenUp = z.object({
  uid: z.string(),
  attempt: z.int(),
  code: z.string().max(64),
  message: z.string().max(1024),
})
export type GivenUp = z.infer<typeof GivenUp>

/** Maximum seconds of `Prefer: wait`. */
export const MAX_WAIT_SECONDS = 30

/** Milliseconds for the preparation of the browser and the upload. */
const MARGIN_MILLISECONDS = 30_000
/** For a copy to another store, with its retries. */
const COPY_MILLISECONDS = 60_000
const MAX_MILLISECONDS = 900_000

/**
 * Maximum milliseconds of one attempt on one pod, from dispatch to the stored file. It covers the sum of the other time limits, unless
 * `jobTimeout` is set. Retries within the attempt (`retries`) use the remaining time.
 * @param isWatched whether later runs of a schedule are compared with the picture
 */
export function attemptMilliseconds(options: CaptureOptions | undefined, isWatched = false): number {
  const effective = withDefaults(options)
  const { timeout, delay, jobTimeout, storageBucket } = effective
  if (jobTimeout !== undefined) return jobTimeout
  const copyMilliseconds = storageBucket === undefined ? 0 : COPY_MILLISECONDS
  const isCompared = isWatched || effective.compareTo !== undefined
  const stability = effective.stabilityTimeout > 0 ? stabilityRealMillisecondsOf(isCompared) : 0
  const steps = timeout + delay + waitMilliseconds(effective) + stability + captureMillisecondsOf(effective) + copyMilliseconds
  return Math.min(steps + MARGIN_MILLISECONDS, MAX_MILLISECONDS)
}

/** Milliseconds for the waits for elements and expressions. */
function waitMilliseconds(options: EffectiveOptions): number {
  const { waitForSelector, waitForSelectorGone, waitForFunction, click, hover, scrollIntoView, selector, timeout } = options
  const all = [waitForSelector, waitForSelectorGone, waitForFunction, click, hover, scrollIntoView, selector]
  const awaited = all.filter((what) => what !== undefined)
  return awaited.length * (options.waitForSelectorTimeout ?? timeout) + scrollMilliseconds(options)
}

/** Milliseconds for one scroll, without the pause after it. */
const SCROLL_MILLISECONDS = 300

function scrollMilliseconds(options: EffectiveOptions): number {
  const { fullPageScroll, fullPageScrollBy, fullPageMaxScrolls, fullPageMaxHeight, viewportHeight, fullPageScrollDelay } = options
  if (!fullPageScroll) return 0
  const scrolls = fullPageMaxScrolls ?? Math.ceil(fullPageMaxHeight / (fullPageScrollBy ?? Math.max(100, viewportHeight)))
  return scrolls * (fullPageScrollDelay + SCROLL_MILLISECONDS)
}

/** Milliseconds that an upload URL stays valid after its attempt. */
export const UPLOAD_GRACE_MILLISECONDS = 60_000

// How long parts of a capture may take.

const STABILITY_REAL_MILLISECONDS = 8_000
/** A picture that shows the middle of a movement would raise a false alarm, and comparisons are rarely urgent. */
const COMPARED_STABILITY_REAL_MILLISECONDS = 15_000

/**
 * Maximum milliseconds of real time for `stabilityTimeout`, which counts page time.
 * @param isCompared whether the picture is compared with an earlier or a later one
 */
export const stabilityRealMillisecondsOf = (isCompared: boolean): number =>
  isCompared ? COMPARED_STABILITY_REAL_MILLISECONDS : STABILITY_REAL_MILLISECONDS

const CAPTURE_MILLISECONDS = 30_000
/** A page of 25,000 pixels takes 2 s on an idle processor, and 20 s on one that ten captures share. */
const MILLISECONDS_PER_PIXEL = 2
const MAX_CAPTURE_MILLISECONDS = 120_000
/** A frame of 1920 × 1080 takes 80 ms on an idle processor. */
const MILLISECONDS_PER_FRAME = 200
const USUAL_FRAME_PIXELS = 1920 * 1080
const MAX_RECORDING_MILLISECONDS = 600_000

/** Maximum milliseconds for taking the picture: `captureTimeout`, or a limit that grows with the maximum height or the number of frames. */
export function captureMillisecondsOf(options: EffectiveOptions): number {
  const { captureTimeout, fullPage, fullPageMaxHeight } = options
  if (captureTimeout !== undefined) return captureTimeout
  const frames = framesOf(options)
  if (frames > 0) return Math.min(CAPTURE_MILLISECONDS + frameMilliseconds(options) * frames, MAX_RECORDING_MILLISECONDS)
  const more = fullPage ? MILLISECONDS_PER_PIXEL * fullPageMaxHeight : 0
  return Math.min(CAPTURE_MILLISECONDS + more, MAX_CAPTURE_MILLISECONDS)
}

function frameMilliseconds({ viewportWidth, viewportHeight, deviceScaleFactor }: EffectiveOptions): number {
  const pixels = viewportWidth * viewportHeight * deviceScaleFactor ** 2
  return MILLISECONDS_PER_FRAME * Math.max(1, Math.round(pixels / USUAL_FRAME_PIXELS))
}
