import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import type { ScreenshotPolicy } from '@tintype/crds/kinds/capture-policy'
import { type ArtifactType, artifactsOf } from '@tintype/crds/options/artifacts'
import { type CaptureOptions, type EffectiveOptions, withDefaults } from '@tintype/crds/options/catalog'
import { contradictions, maxViewportPixels, windowPixels } from '@tintype/crds/options/contradictions'
import type { FileFormat } from '@tintype/crds/options/output/formats'
import { MARKUP_URL } from '@tintype/crds/options/page/loading'
import type { PrivateOptions } from '@tintype/crds/options/private'
import { findWarnings } from '@tintype/crds/options/warnings'
import { buildComparison, type ComparisonPlan } from '../comparison/comparison-plan.ts'
import { CaptureError } from '../runtime/errors.ts'
import { type BlockingPlan, buildBlocking } from './blocking.ts'
import { buildContext, type ContextPlan } from './context.ts'
import { buildSignIn, type SignInPlan } from './identity.ts'
import { buildImageProcessing, type ImageProcessingPlan } from './image-processing.ts'
import { buildHttpCache, buildNetwork, type HttpCachePlan, type NetworkPlan } from './network.ts'
import { buildPdf, type PdfPlan } from './pdf.ts'
import { buildFullPage, buildImage, buildRegion, type FullPagePlan, type ImagePlan, type RegionPlan } from './picture.ts'
import { buildPreview, type PreviewPlan } from './preview.ts'
import { addressOf, buildSource, type SourcePlan } from './source.ts'
import { buildCopy, type CopyPlan } from './storage.ts'
import { buildSyntax, type SyntaxPlan } from './syntax.ts'
import { buildVideo, type VideoPlan, videoWarnings, withoutStillOptions } from './video.ts'
import { buildWaiting, type WaitingPlan } from './waiting.ts'

// Computes the plan for all steps from the options; each group of options has its own file here. Pure functions, so that every default and effect of an
// option can be tested without a browser.

export type { ContextPlan } from './context.ts'

/** The file and the part of the page that it shows. */
export interface PicturePlan extends ImagePlan, FullPagePlan, RegionPlan {}

/** The parts for the steps, one for each group of options. */
interface StepPlans extends SourcePlan, NetworkPlan, BlockingPlan, WaitingPlan, ImageProcessingPlan, PdfPlan, ComparisonPlan {}

/** The plan for one capture. Absent parts: the step is skipped. */
export interface CapturePlan extends StepPlans {
  /** The options with their defaults. Empty texts and lists are absent. */
  options: EffectiveOptions
  /** URL to open: the client's URL, or the URL that its markup is shown at. */
  url: string
  /** Option values that the browser parses before the page opens. */
  syntax?: SyntaxPlan
  /** Credentials and stored data for the page. Secret. */
  signIn?: SignInPlan
  context: ContextPlan
  picture: PicturePlan
  /** The additional files. */
  files: ReadonlySet<ArtifactType>
  /** Absent: no preview is made. */
  preview?: PreviewPlan
  /** Absent: the capture takes a screenshot. */
  video?: VideoPlan
  /** The hosts that the API key allows; absent: all. */
  capturePolicy?: ScreenshotPolicy
  /** Which captures of the batch share responses. */
  httpCache?: HttpCachePlan
  /** Where to copy the screenshot. Secret. */
  copy?: CopyPlan
  /** CSS selectors of elements that moved in the last run of the schedule. */
  movingElements?: readonly string[]
  /** The page is loaded again to confirm a change. */
  isSecondLoad?: true
  /** Warnings that are known before the capture. */
  warnings: readonly string[]
}

/** The context that a runner prepares ahead: for an order without options. */
export const DEFAULT_CONTEXT: ContextPlan = buildContext(withDefaults(undefined))

/**
 * Builds the plan for one order.
 * @param order the order's batch and limits, if any
 * @throws CaptureError TOO_LARGE for a window that the schema cannot check: a device's pixel ratio with the client's window size
 * @throws CaptureError INVALID_OPTIONS for contradictory options, if neither the gateway nor the API server has seen all of them
 */
export function buildPlan(
  url: string,
  options: CaptureOptions | undefined,
  privateOptions?: PrivateOptions,
  { batchId, capturePolicy }: Pick<CaptureOrder, 'batchId' | 'capturePolicy'> = {},
): CapturePlan {
  assertOptionsAgree({ ...options, ...privateOptions })
  const effective = withoutStillOptions(withDefaults(withoutEmpty(options)))
  if (url === MARKUP_URL && effective.html === undefined && effective.markdown === undefined)
    throw new CaptureError('INVALID_OPTIONS', `the url is ${MARKUP_URL}, but neither html nor markdown is set`)
  const address = addressOf(url, effective)
  const signIn = buildSignIn(address, privateOptions, effective.headersScope)
  const httpCache = buildHttpCache(effective, privateOptions, { batchId, signInOrigin: signIn?.origin, capturePolicy })
  const context = buildContext(effective)
  const video = buildVideo(effective, context)
  return {
    options: effective,
    url: address,
    ...(signIn ? { signIn } : {}),
    context: video ? { ...context, frameControl: 'video' } : context,
    picture: { ...buildImage(effective), ...buildFullPage(effective, context.viewport.height), ...buildRegion(effective) },
    files: new Set(artifactsOf(effective).map(({ type }) => type)),
    ...buildPreview(effective),
    ...(video ? { video } : {}),
    ...buildSyntax(effective),
    ...buildStepPlans(effective, privateOptions),
    ...(capturePolicy ? { capturePolicy } : {}),
    ...(httpCache ? { httpCache } : {}),
    ...buildCopy(effective, privateOptions),
    warnings: [...findWarnings({ ...options, ...privateOptions }), ...videoWarnings(effective)],
  }
}

const withoutEmpty = (options: CaptureOptions = {}): CaptureOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0)))

function buildStepPlans(options: EffectiveOptions, secrets: PrivateOptions | undefined): StepPlans {
  return {
    ...buildSource(options),
    ...buildNetwork(options, secrets),
    ...buildBlocking(options),
    ...buildWaiting(options),
    ...buildImageProcessing(options),
    ...buildPdf(options),
    ...buildComparison(options),
  }
}

function assertOptionsAgree(options: CaptureOptions & PrivateOptions): void {
  const limit = maxViewportPixels(options.format)
  if (windowPixels(options) > limit) {
    const message = `the window exceeds ${limit.toLocaleString('en-US')} device pixels. Reduce its size or device_scale_factor.`
    throw new CaptureError('TOO_LARGE', message)
  }
  const conflict = contradictions.find(({ holds }) => holds(options))
  if (conflict) throw new CaptureError('INVALID_OPTIONS', conflict.message)
}

/** Whether the client does something in the page, which may change or leave it. */
export const hasActions = ({ options: { scripts, scriptUrls, click, clickAll, pressKey } }: CapturePlan): boolean =>
  [scripts, scriptUrls, click, clickAll, pressKey].some((action) => action !== undefined)

/** Format of the file of a capture. */
export const formatOf = ({ video, picture }: Pick<CapturePlan, 'video' | 'picture'>): FileFormat => video?.format ?? picture.format

/** The same plan for a tab whose frames the runner begins (ADR 34). */
export const withFrameControl = (plan: CapturePlan): CapturePlan =>
  plan.video ? plan : { ...plan, context: { ...plan.context, frameControl: 'picture' } }

/** True if a prepared context needs at most another window size and other media for `wanted`. */
export function isAdaptable(wanted: ContextPlan, prepared: ContextPlan): boolean {
  const { viewport: _, colorScheme, mediaType, reducedMotion, forcedColors, moreContrast, ...rest } = wanted
  const { viewport, colorScheme: scheme, ...usual } = prepared
  return JSON.stringify(rest) === JSON.stringify(usual)
}
