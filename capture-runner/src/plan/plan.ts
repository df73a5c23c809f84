import type { CaptureOptions, EffectiveOptions } from '@tintype/crds/options/catalogue'
import { withDefaults } from '@tintype/crds/options/catalogue'
import { contradictions, MAX_VIEWPORT_PIXELS, windowPixels } from '@tintype/crds/options/contradictions'
import { MARKUP_URL } from '@tintype/crds/options/page/source'
import type { PrivateOptions } from '@tintype/crds/options/private'
import { findWarnings } from '@tintype/crds/options/warnings'
import { CaptureError } from '../runtime/errors.ts'
import { type BlockingPlan, buildBlocking } from './blocking.ts'
import { buildContext, type ContextPlan } from './context.ts'
import { buildExtraFiles, type ExtraFilesPlan } from './extra-files.ts'
import { buildFailing, type FailingPlan } from './failing.ts'
import { buildFullPage, type FullPagePlan } from './full-page.ts'
import { buildHttpCache, type HttpCachePlan } from './http-cache.ts'
import { buildSignIn, type SignInPlan } from './identity.ts'
import { buildImage, type ImagePlan } from './image.ts'
import { buildImageProcessing, type ImageProcessingPlan } from './image-processing.ts'
import { buildMetadata, type MetadataPlan } from './metadata.ts'
import { buildNetwork, type NetworkPlan } from './network.ts'
import { buildPdf, type PdfPlan } from './pdf.ts'
import { buildPreparing, type PreparingPlan } from './preparing.ts'
import { buildRegion, type RegionPlan } from './region.ts'
import { addressOf, buildSource, type SourcePlan } from './source.ts'
import { buildCopy, type CopyPlan } from './storage.ts'
import { buildSyntax, type SyntaxPlan } from './syntax.ts'
import { buildWaiting, type WaitingPlan } from './waiting.ts'

// What the steps are told, computed once from the options: a file beside this one for each group of them. Pure, so that every default and every effect
// of an option can be tested without a browser.

export type { ContextPlan } from './context.ts'

/** The file that is wanted, and what it shows. */
export interface PicturePlan extends ImagePlan, FullPagePlan, RegionPlan {}

/** The parts that steps read, one of each group. */
interface StepPlans
  extends SourcePlan,
    NetworkPlan,
    PreparingPlan,
    BlockingPlan,
    WaitingPlan,
    FailingPlan,
    ImageProcessingPlan,
    PdfPlan,
    ExtraFilesPlan,
    MetadataPlan {}

/** One capture, step by step. Absent: the step is not wanted. */
export interface CapturePlan extends StepPlans {
  /** What the browser is sent to: the client's address, or where its markup pretends to be. */
  url: string
  /** What the browser reads before the page is asked for. */
  syntax?: SyntaxPlan
  /** By what the page is to know the visitor. Secret. */
  signIn?: SignInPlan
  context: ContextPlan
  picture: PicturePlan
  /** What it shares with other captures of its batch. */
  httpCache?: HttpCachePlan
  /** Where a second copy goes. Secret. */
  copy?: CopyPlan
  /** What the client should know before anything has been done. */
  warnings: readonly string[]
}

/** The context that a runner prepares ahead: that of an order without options. */
export const DEFAULT_CONTEXT: ContextPlan = buildContext(withDefaults(undefined))

/**
 * Works the options of one order out.
 * @param batchId batch that the order belongs to, if any
 * @throws CaptureError TOO_LARGE for a window that no schema could judge: a device's pixel ratio in a window of one's own
 * @throws CaptureError INVALID_OPTIONS for options that contradict each other where no gateway and no API server has seen them all
 */
export function buildPlan(
  url: string,
  options: CaptureOptions | undefined,
  privateOptions?: PrivateOptions,
  batchId?: string,
): CapturePlan {
  assertOptionsAgree({ ...options, ...privateOptions })
  const effective = withDefaults(options)
  if (url === MARKUP_URL && effective.html === undefined && effective.markdown === undefined)
    throw new CaptureError('INVALID_OPTIONS', `the url is ${MARKUP_URL}, and neither html nor markdown is given`)
  const address = addressOf(url, effective)
  const signIn = buildSignIn(address, privateOptions, effective.headersScope)
  const { httpCache, warnings } = buildHttpCache(effective, privateOptions, { batchId, signInOrigin: signIn?.origin })
  return {
    url: address,
    ...(signIn ? { signIn } : {}),
    context: buildContext(effective),
    picture: { ...buildImage(effective), ...buildFullPage(effective), ...buildRegion(effective) },
    ...buildSyntax(effective),
    ...buildStepPlans(effective, privateOptions),
    ...(httpCache ? { httpCache } : {}),
    ...buildCopy(effective, privateOptions),
    warnings: [...findWarnings({ ...options, ...privateOptions }), ...warnings],
  }
}

function buildStepPlans(options: EffectiveOptions, secrets: PrivateOptions | undefined): StepPlans {
  return {
    ...buildSource(options),
    ...buildNetwork(options, secrets),
    ...buildPreparing(options),
    ...buildBlocking(options),
    ...buildWaiting(options),
    ...buildFailing(options),
    ...buildImageProcessing(options),
    ...buildPdf(options),
    ...buildExtraFiles(options),
    ...buildMetadata(options),
  }
}

function assertOptionsAgree(options: CaptureOptions & PrivateOptions): void {
  if (windowPixels(options) > MAX_VIEWPORT_PIXELS)
    throw new CaptureError('TOO_LARGE', 'the window exceeds 100,000,000 device pixels: choose a smaller one, or device_scale_factor')
  const conflict = contradictions.find(({ holds }) => holds(options))
  if (conflict) throw new CaptureError('INVALID_OPTIONS', conflict.message)
}

/** True when a prepared context needs no more than another window size and other media to serve `wanted`. */
export function isAdaptable(wanted: ContextPlan): boolean {
  const { viewport: _, colorScheme, mediaType, reducedMotion, forcedColors, moreContrast, ...rest } = wanted
  const { viewport, colorScheme: scheme, ...usual } = DEFAULT_CONTEXT
  return JSON.stringify(rest) === JSON.stringify(usual)
}
