import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Baseline } from '@tintype/crds/dispatch/dispatch'
import {
  type Comparison,
  type Engine,
  type IgnoredElements,
  isSameEngine,
  isSameText,
  type PictureBox,
} from '@tintype/crds/kinds/comparison'
import { PAGE_FRAME, toBoxes, widen } from '../comparison/boxes.ts'
import type { ComparisonSettings } from '../comparison/change-finder.ts'
import type { ChangedPixels } from '../comparison/changed-pixels.ts'
import { comparePictures } from '../comparison/compare.ts'
import type { ComparisonPlan } from '../comparison/comparison-plan.ts'
import { decide, decideByWords, decideEngine, evaluate, evaluateEngine, type Noise, toTolerances } from '../comparison/decide.ts'
import { type DecodedPicture, decodeTo, type EncodedPicture, inspect } from '../comparison/decoded-picture.ts'
import { drawDiff } from '../comparison/diff-picture.ts'
import { fetchBaseline } from '../comparison/fetch-baseline.ts'
import { type InParts, inTurns } from '../comparison/in-turns.ts'
import { compareSizes, isCanvasTooLarge, MAX_CANVAS_PIXELS } from '../comparison/outside.ts'
import type { Evaluation } from '../comparison/regions.ts'
import { compareWords } from '../comparison/words.ts'
import type { CapturePlan } from '../plan/plan.ts'
import { CaptureError } from '../runtime/errors.ts'
import { abortable, bounded } from '../runtime/race.ts'
import type { Findings } from '../steps/step.ts'
import type { Captured } from './run.ts'

// Compares the screenshot with the picture of the order, after the tab has been given back.

/** The picture to compare with, on disk. Dispose it after the comparison. */
interface FetchedBaseline extends AsyncDisposable {
  directory: string
  file: string
  /** SHA-256 of the file in hex, after the download. */
  sha256: Promise<string>
  ignored: readonly IgnoredElements[]
  /** What drew it; undefined: not known. */
  engine?: Engine | undefined
  /** The visible text of its page; undefined: not stored, or gone. */
  text: Promise<string | undefined>
}

/** Starts to download the picture of the order. */
export async function openBaseline(baseline: Baseline | undefined, signal: AbortSignal): Promise<FetchedBaseline | undefined> {
  if (!baseline) return undefined
  const directory = await mkdtemp(join(tmpdir(), 'comparison-'))
  const file = join(directory, 'before')
  const ended = new AbortController()
  const sha256 = fetchBaseline(baseline, file, AbortSignal.any([signal, ended.signal]))
  sha256.catch(() => {})
  const text = fetchText(baseline, directory, AbortSignal.any([signal, ended.signal]))
  return {
    directory,
    file,
    sha256,
    ignored: baseline.ignored ?? [],
    engine: baseline.engine,
    text,
    [Symbol.asyncDispose]: async () => {
      ended.abort()
      await sha256.catch(() => {})
      await text
      // A decoder may still write after an aborted comparison.
      await rm(directory, { recursive: true, force: true }).catch(() => {})
    },
  }
}

/** Without its text, a picture is still compared. */
async function fetchText({ text }: Baseline, directory: string, signal: AbortSignal): Promise<string | undefined> {
  if (!text) return undefined
  const file = join(directory, 'before.txt')
  return fetchBaseline(text, file, signal)
    .then(() => readFile(file, 'utf8'))
    .catch(() => undefined)
}

/** The findings that a comparison reads and adds to. */
type Compared = Pick<Findings, 'engine' | 'files' | 'frame' | 'ignoredElements' | 'unfit' | 'warnings'>

/** A compared picture. */
interface Examined {
  sha256: string
  comparison: Comparison
  /** The visible text of the page, if it was stored. */
  text?: string | undefined
  /** Absent: the pixels were not compared, because the files are equal, or a picture is unfit or too large. */
  pixels?: ExaminedPixels
}

interface ExaminedPixels {
  before: DecodedPicture
  after: DecodedPicture
  changed: ChangedPixels
  evaluation: Evaluation
  isCounted: Uint8Array
  ignored: readonly PictureBox[]
}

/**
 * Compares the picture of a load of the page, and its words.
 * @param first the picture of the first load, if this is the second: only what both show counts
 * @throws CaptureError BASELINE_NOT_FOUND, STORAGE_FAILED; the signal's reason
 */
export async function examine(
  picture: Buffer,
  baseline: FetchedBaseline,
  findings: Compared,
  plan: ComparisonPlan,
  signal: AbortSignal,
  first?: Examined,
): Promise<Examined> {
  const earlier = await abortable(baseline.text, signal)
  const text = findings.files.get('text')?.toString()
  const isKnown = earlier !== undefined && text !== undefined && isSameText(baseline.engine, findings.engine)
  const words = isKnown ? await inTurns(compareWords(earlier, text, first?.text), signal) : undefined
  const isSame = isSameEngine(baseline.engine, findings.engine)
  const engine = isSame === undefined ? {} : { engineChanged: !isSame }
  const examined = await examinePixels(
    picture,
    baseline,
    { findings, textChanged: words?.textChanged, isOther: isSame === false },
    plan,
    signal,
    first,
  )
  if (examined.comparison.skipped) return { ...examined, text }
  const decided = words?.textChanged ? withWords(examined) : examined
  return { ...decided, text, comparison: { ...decided.comparison, ...words, ...engine } }
}

/** Where moving parts hide the pixels, other words decide. */
function withWords(examined: Examined): Examined {
  const { comparison, pixels } = examined
  if (!pixels || comparison.rule !== 'loads') return examined
  const { changed, evaluation } = pixels
  return {
    ...examined,
    comparison: { ...comparison, ...decideByWords(changed, evaluation) },
    pixels: { ...pixels, isCounted: evaluation.dropped.isCounted },
  }
}

/** A load of the page, and what is known about it beside its pixels. */
interface Load {
  findings: Compared
  textChanged: boolean | undefined
  /** Another engine drew the earlier picture. */
  isOther: boolean
}

/**
 * Compares the picture of a load of the page.
 * @param first the picture of the first load, if this is the second: only what both show counts
 * @throws CaptureError BASELINE_NOT_FOUND, STORAGE_FAILED; the signal's reason
 */
async function examinePixels(
  picture: Buffer,
  baseline: FetchedBaseline,
  { findings, textChanged, isOther }: Load,
  { comparison: plan }: ComparisonPlan,
  signal: AbortSignal,
  first?: Examined,
): Promise<Examined> {
  const loads = first ? 2 : 1
  const earlierHash = await abortable(baseline.sha256, signal)
  const sha256 = await inTurns(hash(picture), signal)
  if (findings.unfit) return { sha256, comparison: { changed: false, skipped: findings.unfit } }
  if (sha256 === earlierHash) return { sha256, comparison: { ...UNCHANGED, loads } }
  if (sha256 === first?.sha256) return { ...first, comparison: { ...first.comparison, loads } }
  const ignored = [...ignoredBoxes(findings, baseline, plan), ...(first?.pixels?.ignored ?? [])]
  const [earlier, later] = await abortable(Promise.all([inspect(baseline.file).catch(refuse), inspect(picture)]), signal)
  if (isCanvasTooLarge(earlier, later)) {
    findings.warnings.push(
      `only the sizes were compared: a canvas that contains both pictures has more than ${MAX_CANVAS_PIXELS / 1_000_000} megapixels`,
    )
    const sizes = await inTurns(compareSizes(earlier, later, ignored, plan.threshold), signal)
    return { sha256, comparison: { ...sizes, loads } }
  }
  const noise = noiseOf(earlier, later)
  const [before, after] = await abortable(decodeBoth(first?.pixels?.before ?? earlier, later, baseline.directory, loads), signal)
  const settings = {
    ...toTolerances(plan.colorTolerance, noise, isOther),
    antialiasing: plan.antialiasing,
    // The noise of what is in a box is around it too.
    ignored: noise === 'none' ? ignored : widen(ignored, BLOCK),
    forgivesOffsets: isOther,
  }
  const compareWith = async (chosen: ComparisonSettings) => {
    const changed = await comparePictures(before, after, chosen, signal)
    const between = first?.pixels && (await comparePictures(first.pixels.after, after, chosen, signal, changed))
    const evaluation = isOther
      ? evaluateEngine(changed, between, textChanged)
      : evaluate(changed, between, { threshold: plan.threshold, noise, textChanged })
    return { changed, evaluation: await inTurns(evaluation, signal) }
  }
  const usual = await compareWith(settings)
  const isExact = noise === 'none' && !isOther && plan.threshold === undefined && settings.slightLevels !== undefined
  const isHidden = isExact && textChanged && usual.evaluation.regions.length === 0
  const { changed, evaluation } = isHidden ? await compareWith({ ...settings, ...DIM_TEXT }) : usual
  if (evaluation.isLimited) findings.warnings.push(LIMITED)
  const sizeChanged = before.width !== after.width || before.height !== after.height
  return {
    sha256,
    comparison: { ...(isOther ? decideEngine(changed, evaluation, textChanged) : decide(changed, evaluation, plan)), sizeChanged, loads },
    pixels: { before, after, changed, evaluation, isCounted: evaluation.isCounted, ignored },
  }
}

/**
 * The result for a picture that could not be compared in time: all its pixels count as changed, because a change must not be lost.
 * @param baseline a downloaded picture
 * @throws CaptureError BASELINE_NOT_FOUND; the signal's reason
 */
export async function giveUp(
  picture: Buffer,
  baseline: FetchedBaseline,
  findings: Compared,
  { comparison: plan }: ComparisonPlan,
  signal: AbortSignal,
): Promise<Comparison> {
  const [earlier, later] = await abortable(Promise.all([inspect(baseline.file).catch(refuse), inspect(picture)]), signal)
  const sizes = await inTurns(compareSizes(earlier, later, ignoredBoxes(findings, baseline, plan), undefined, NOTHING), signal)
  const sizeChanged = earlier.width !== later.width || earlier.height !== later.height
  findings.warnings.push(GIVEN_UP)
  return { ...sizes, changed: true, sizeChanged, loads: 1 }
}

const NOTHING = { width: 0, height: 0 }

const GIVEN_UP =
  'the pictures were not compared in time, so the page counts as changed as a whole. Raise capture_timeout and job_timeout, or compare a part of the page with selector'

/** Adds the picture of the differences to the files, if a pixel differs. */
export async function drawDifferences({ pixels }: Examined, { files }: Pick<Findings, 'files'>, signal: AbortSignal): Promise<void> {
  if (pixels && pixels.changed.count > 0) files.set('diff', await drawDiff(pixels, signal))
}

/** Decodes both pictures: at the same time, unless that needs memory for both as a whole. The earlier one may be decoded already. */
async function decodeBoth(earlier: EncodedPicture | DecodedPicture, later: EncodedPicture, directory: string, load: number) {
  const decodeEarlier = () => ('readRows' in earlier ? earlier : decodeTo(join(directory, 'before.v'), earlier).catch(refuse))
  const decodeLater = () => decodeTo(join(directory, `after-${load}.v`), later)
  if ('readRows' in earlier || (earlier.isRowByRow && later.isRowByRow)) return Promise.all([decodeEarlier(), decodeLater()])
  return [await decodeEarlier(), await decodeLater()] as const
}

const LIMITED =
  'the pictures differ in too many places to search all of them, so smooth edges or moving parts may count as changed. Compare a part of the page with selector, or use compare_ignore'

/** How other words are searched for that the usual tolerance does not show: a dim text differs from its background by some levels of 255. */
const DIM_TEXT = { colorTolerance: 0.0125, antialiasing: true }

/** Side of a block that is compressed with loss, in pixels. */
const BLOCK = 16

const noiseOf = (one: EncodedPicture, other: EncodedPicture): Noise =>
  one.isLossy || other.isLossy ? (one.format === other.format ? 'local' : 'everywhere') : 'none'

/** The earlier picture is in the bucket, so it may have been damaged or forged. */
const refuse = (cause: unknown): never => {
  throw new CaptureError('BASELINE_NOT_FOUND', 'the file of compare_to is damaged, or is not a picture that a capture writes', { cause })
}

const UNCHANGED: Comparison = {
  ...{ changed: false, changedPixels: 0, changedRatio: 0, sizeChanged: false, regions: [] },
  ...{ regionCount: 0, droppedRegions: 0, rule: 'identical' },
}

/** Bytes of a picture to hash at a time. */
const HASH_BYTES = 2 ** 22

/** SHA-256 in hex. */
function* hash(bytes: Buffer): InParts<string> {
  const sum = createHash('sha256')
  for (let at = 0; at < bytes.length; at += HASH_BYTES) {
    if (at > 0) yield
    sum.update(bytes.subarray(at, at + HASH_BYTES))
  }
  return sum.digest('hex')
}

/** The areas that the capture ignores, and those that the earlier one ignored. */
const ignoredBoxes = (findings: Compared, { ignored }: FetchedBaseline, plan: ComparisonPlan['comparison']): PictureBox[] => [
  ...boxesOf(findings),
  ...toBoxes(plan.ignoredRegions, findings.frame ?? PAGE_FRAME),
  ...ignored.flatMap(({ selector, boxes }) => (plan.ignoredSelectors.includes(selector) ? boxes : [])),
]

const boxesOf = ({ ignoredElements = [], frame = PAGE_FRAME }: Compared): PictureBox[] =>
  ignoredElements.flatMap(({ areas }) => toBoxes(areas, frame))

// A change is confirmed by a second picture of the page. Pages differ now and then for reasons that are not a change: a chart that a busy machine has
// not drawn in time, an answer that came late, an advertisement. So only what both pictures show counts.

/** A second capture may take longer than the first, and its file must still be stored. */
const TIME_FACTOR = 2
/** Share of the remaining time that a comparison may take, because the file must still be stored. */
const COMPARING_SHARE = 0.5
const WARNING = 'the first picture differed from the earlier one, and a second one did not; the second one was stored'
const UNCONFIRMED = 'the change was not confirmed by a second load of the page'
const DROPPED =
  'two loads of the page differ where they differ from the earlier picture, so that is not a change; the second one was stored'

const WORDLESS = 'the words were not compared, because the text of the earlier capture is not stored'
const READ_OTHERWISE =
  'the words were not compared, because another version of Tintype read the text of the earlier capture; compare with a newer one'

/** What a comparison needs, and how to capture the page again. */
interface Confirmation {
  baseline: FetchedBaseline
  plan: CapturePlan
  /** Epoch milliseconds. */
  deadline: number
  /** Milliseconds that the first capture took. */
  captureMilliseconds: number
  signal: AbortSignal
  /** @param movingElements CSS selectors of elements that moved to the end of the first wait, so that the second one need not wait for them */
  captureAgain: (movingElements: readonly string[]) => Promise<Captured>
}

/**
 * Compares a capture with the earlier picture. Without a result in time, the page counts as changed. If the page changed, captures it again and
 * compares that, unless `retries` is 0 or the time is short.
 * @returns the capture to store, with its comparison
 * @throws what `examine` throws
 */
export async function compareTwice(first: Captured, { baseline, plan, signal, ...rest }: Confirmation): Promise<Captured> {
  const finish = async (captured: Captured, examined: Examined): Promise<Captured> => {
    captured.findings.comparison = examined.comparison
    const { textChanged, skipped } = examined.comparison
    if (textChanged === undefined && !skipped) {
      const isStored = (await baseline.text) !== undefined && !isSameText(baseline.engine, captured.findings.engine)
      captured.findings.warnings.push(isStored ? READ_OTHERWISE : WORDLESS)
    }
    await drawDifferences(examined, captured.findings, signal)
    return captured
  }
  const examineInTime = async ({ picture, findings }: Captured, earlier?: Examined): Promise<Examined | undefined> => {
    const late = new Error('the comparison did not end within its time')
    const milliseconds = Math.min(plan.captureMilliseconds, COMPARING_SHARE * (rest.deadline - Date.now()))
    using time = bounded(signal, milliseconds, () => late)
    try {
      return await examine(picture, baseline, findings, plan, time.signal, earlier)
    } catch (error) {
      if (error !== late) throw error
      return undefined
    }
  }
  // A slow download is not the comparison's fault.
  await abortable(baseline.sha256, signal)
  const one = await examineInTime(first)
  if (!one) {
    first.findings.comparison = await giveUp(first.picture, baseline, first.findings, plan, signal)
    return first
  }
  if (!one.comparison.changed) return finish(first, one)
  const isWorthwhile = Date.now() + TIME_FACTOR * rest.captureMilliseconds < rest.deadline
  const second =
    plan.options.retries > 0 && isWorthwhile
      ? await rest.captureAgain(first.findings.moving?.elements ?? []).catch(() => undefined)
      : undefined
  signal.throwIfAborted()
  const two = second && (await examineInTime(second, one))
  // A blank page or a bot challenge says nothing about a change.
  if (!second || !two || two.comparison.skipped) {
    first.findings.warnings.push(UNCONFIRMED)
    return finish(first, one)
  }
  if (!two.comparison.changed) second.findings.warnings.push(two.comparison.rule === 'loads' ? DROPPED : WARNING)
  return finish(second, two)
}
