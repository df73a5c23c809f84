import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Baseline } from '@tintype/crds/dispatch/dispatch'
import type { Comparison, IgnoredElements, PictureBox } from '@tintype/crds/kinds/comparison'
import { comparePictures } from '../comparison/compare.ts'
import type { ComparisonPlan } from '../comparison/comparison-plan.ts'
import { decodeTo, type EncodedPicture, inspect } from '../comparison/decoded-picture.ts'
import { drawDiff } from '../comparison/diff-picture.ts'
import { fetchBaseline } from '../comparison/fetch-baseline.ts'
import { compareSizes, isCanvasTooLarge, MAX_CANVAS_PIXELS } from '../comparison/outside.ts'
import { PAGE_FRAME, toBoxes } from '../comparison/to-boxes.ts'
import { CaptureError } from '../runtime/errors.ts'
import { abortable } from '../runtime/race.ts'
import type { Findings } from '../steps/step.ts'

// Compares the screenshot with the picture of the order, after the tab has been given back.

/** The picture to compare with, on disk. Dispose it after the comparison. */
export interface FetchedBaseline extends AsyncDisposable {
  directory: string
  file: string
  /** SHA-256 of the file in hex, after the download. */
  sha256: Promise<string>
  ignored: readonly IgnoredElements[]
}

/** Starts to download the picture of the order. */
export async function openBaseline(baseline: Baseline | undefined, signal: AbortSignal): Promise<FetchedBaseline | undefined> {
  if (!baseline) return undefined
  const directory = await mkdtemp(join(tmpdir(), 'comparison-'))
  const file = join(directory, 'before')
  const ended = new AbortController()
  const sha256 = fetchBaseline(baseline, file, AbortSignal.any([signal, ended.signal]))
  sha256.catch(() => {})
  return {
    directory,
    file,
    sha256,
    ignored: baseline.ignored ?? [],
    [Symbol.asyncDispose]: async () => {
      ended.abort()
      await sha256.catch(() => {})
      // A decoder may still write after an aborted comparison.
      await rm(directory, { recursive: true, force: true }).catch(() => {})
    },
  }
}

/** The findings that a comparison reads and adds to. */
type Compared = Pick<Findings, 'files' | 'frame' | 'ignoredElements' | 'unfit' | 'warnings'>

/**
 * Compares the picture. Adds the picture of the differences to the files, if there are any.
 * @throws CaptureError BASELINE_NOT_FOUND, STORAGE_FAILED; the signal's reason
 */
export async function compare(
  picture: Buffer,
  baseline: FetchedBaseline,
  findings: Compared,
  { comparison: plan }: ComparisonPlan,
  signal: AbortSignal,
): Promise<Comparison> {
  const sha256 = await abortable(baseline.sha256, signal)
  if (findings.unfit) return { changed: false, skipped: findings.unfit }
  if (sha256 === createHash('sha256').update(picture).digest('hex')) return UNCHANGED
  const ignored = [
    ...boxesOf(findings),
    ...toBoxes(plan.ignoredRegions, findings.frame ?? PAGE_FRAME),
    ...baseline.ignored.flatMap(({ selector, boxes }) => (plan.ignoredSelectors.includes(selector) ? boxes : [])),
  ]
  const [earlier, later] = await abortable(Promise.all([inspect(baseline.file).catch(refuse), inspect(picture)]), signal)
  if (isCanvasTooLarge(earlier, later)) {
    findings.warnings.push(
      `only the sizes were compared: a canvas that contains both pictures has more than ${MAX_CANVAS_PIXELS / 1_000_000} megapixels`,
    )
    return compareSizes(earlier, later, ignored, plan.threshold)
  }
  const [before, after] = await abortable(decodeBoth(earlier, later, baseline.directory), signal)
  const changed = await comparePictures(before, after, { ...plan, ignored }, signal)
  if (changed.count > 0) findings.files.set('diff', await drawDiff({ before, after, changed, ignored }, signal))
  const changedRatio = changed.count / (changed.width * changed.height)
  return {
    changed: changedRatio > plan.threshold,
    changedPixels: changed.count,
    changedRatio,
    sizeChanged: before.width !== after.width || before.height !== after.height,
    regions: changed.findRegions(),
  }
}

/** Decodes both pictures: at the same time, unless that needs memory for both as a whole. */
async function decodeBoth(earlier: EncodedPicture, later: EncodedPicture, directory: string) {
  const decodeEarlier = () => decodeTo(join(directory, 'before.v'), earlier).catch(refuse)
  const decodeLater = () => decodeTo(join(directory, 'after.v'), later)
  if (earlier.isRowByRow && later.isRowByRow) return Promise.all([decodeEarlier(), decodeLater()])
  return [await decodeEarlier(), await decodeLater()] as const
}

/** The earlier picture is in the bucket, so it may have been damaged or forged. */
const refuse = (cause: unknown): never => {
  throw new CaptureError('BASELINE_NOT_FOUND', 'the file of compare_to is damaged, or is not a picture that a capture writes', { cause })
}

const UNCHANGED: Comparison = { changed: false, changedPixels: 0, changedRatio: 0, sizeChanged: false, regions: [] }

const boxesOf = ({ ignoredElements = [], frame = PAGE_FRAME }: Compared): PictureBox[] =>
  ignoredElements.flatMap(({ areas }) => toBoxes(areas, frame))
