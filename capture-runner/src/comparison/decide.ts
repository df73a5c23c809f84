import { type Comparison, type FormKind, MAX_CHANGED_REGIONS, type UnfitReason } from '@tintype/crds/kinds/comparison'
import { captureDefaults } from '@tintype/crds/options/catalog'
import { isStatusIn, type StatusRange } from '@tintype/crds/options/rules/texts'
import type { ChangedPixels } from './changed-pixels.ts'
import type { ComparisonPlan } from './comparison-plan.ts'
import type { InParts } from './in-turns.ts'
import { type Evaluation, evaluateRegions, MIN_LOSSY_PIXELS, MIN_PIXELS, type Regions } from './regions.ts'

// Decides whether a picture changed (ADR 69). Pure functions.

type Settings = Pick<ComparisonPlan['comparison'], 'threshold' | 'colorTolerance'>

/** Kind of noise: none, of two pictures in the same format with loss, which differ only around a change, or of two formats, which differ everywhere. */
export type Noise = 'none' | 'local' | 'everywhere'

/** Added to the tolerance if one picture has noise that the other one lacks. */
const LOSSY_TOLERANCE = 0.1
/** Levels of 255 by which the color of an area must differ. */
const SLIGHT_LEVELS = 3
const LOSSY_SLIGHT_LEVELS = 8
const MAX_LEVELS = 255

/**
 * The tolerances for two pictures. With a tolerance of 0, the smallest difference counts.
 * @param isOther another engine drew the earlier picture
 */
export function toTolerances(colorTolerance: number, noise: Noise, isOther = false) {
  const min = noise === 'none' ? SLIGHT_LEVELS : LOSSY_SLIGHT_LEVELS
  // Colors that differ everywhere, or edges of another engine, would make a small area of a large difference.
  const slightLevels = { isLossy: noise !== 'none', min, max: noise === 'everywhere' || isOther ? min : MAX_LEVELS }
  return {
    colorTolerance: noise === 'everywhere' && colorTolerance > 0 ? Math.min(1, colorTolerance + LOSSY_TOLERANCE) : colorTolerance,
    // A client that sets a larger tolerance does not want reports of such areas.
    slightLevels: colorTolerance > captureDefaults.compareColorTolerance ? undefined : slightLevels,
  }
}

/** With another engine: changed pixels from which a region counts, and the share of its box if the words are the same, which text does not fill. */
const MIN_ENGINE_PIXELS = 12
const MIN_ENGINE_FILL = 0.5

/** Evaluates the difference to a picture of another browser or of other fonts. @param textChanged undefined: not known */
export const evaluateEngine = (
  changed: ChangedPixels,
  between: ChangedPixels | undefined,
  textChanged: boolean | undefined,
): InParts<Evaluation> =>
  evaluateRegions(changed, between, {
    minPixels: MIN_ENGINE_PIXELS,
    minFill: textChanged === false ? MIN_ENGINE_FILL : 0,
    isSameText: textChanged === false,
  })

/** Builds the result for a picture of another browser or of other fonts. Words and large differences decide. */
export const decideEngine = (changed: ChangedPixels, evaluation: Evaluation, textChanged = false): Comparison => ({
  ...decide(changed, evaluation, { threshold: undefined }),
  changed: textChanged || evaluation.regions.length > 0,
  rule: 'engine',
})

/** Evaluates the difference. With a share, each pixel counts, and with other words: a full stop has hardly any that is not a smooth edge. */
export const evaluate = (
  changed: ChangedPixels,
  between: ChangedPixels | undefined,
  { threshold, noise, textChanged }: { threshold: number | undefined; noise: Noise; textChanged?: boolean | undefined },
): InParts<Evaluation> =>
  evaluateRegions(changed, between, {
    minPixels: threshold !== undefined || textChanged ? 1 : noise === 'none' ? MIN_PIXELS : MIN_LOSSY_PIXELS,
    isSameText: textChanged === false,
  })

/** Builds the result. */
export function decide(changed: ChangedPixels, evaluation: Evaluation, { threshold }: Pick<Settings, 'threshold'>): Comparison {
  const found = summarize(changed, evaluation)
  return {
    ...found,
    changed: threshold === undefined ? evaluation.regions.length > 0 : found.changedRatio > threshold,
    droppedRegions: evaluation.dropped.regions.length,
    rule: ruleOf(changed, evaluation, threshold),
  }
}

const summarize = ({ width, height }: ChangedPixels, { regions, pixels }: Regions) => ({
  changedPixels: pixels,
  changedRatio: pixels / (width * height),
  regions: regions.slice(0, MAX_CHANGED_REGIONS),
  regionCount: regions.length,
})

function ruleOf({ count }: ChangedPixels, { regions, dropped, isSlight }: Evaluation, threshold: number | undefined) {
  if (count === 0) return 'identical'
  if (regions.length === 0 && dropped.regions.length > 0) return 'loads'
  if (threshold !== undefined) return 'share'
  return isSlight ? 'color' : 'regions'
}

/** Builds the result for pictures in which moving parts hide the pixels: words that two loads agree on decide, and they are in those parts. */
export const decideByWords = (changed: ChangedPixels, { dropped }: Evaluation): Comparison => ({
  ...summarize(changed, dropped),
  changed: true,
  droppedRegions: 0,
  rule: 'text',
})

// Decides whether a picture shows the page, or something in its place that must not be compared. Pure functions.

const FIRST_ERROR_STATUS = 400
/** Parts of a host or a path that name a login. */
const LOGIN = /(^|[/_.-])(log[-_]?in|sign[-_]?in|sso|auth|authorize|authenticate|oauth2?|saml2?)([/_.?-]|$)/i

/** What a capture found. */
export interface PageFacts {
  /** Found by a step. */
  unfit?: UnfitReason | undefined
  httpStatus?: number | undefined
  finalUrl?: string | undefined
  forms?: readonly FormKind[] | undefined
  isBrokenOff?: boolean | undefined
}

/** The page as it should be: that of the earlier picture, or the URL of the request. */
interface Expected {
  url: string
  /** Undefined: not known. */
  forms: readonly FormKind[] | undefined
}

/** Why a picture must not be compared; undefined: it shows the page. */
export function findUnfit(facts: PageFacts, expected: Expected, acceptedStatuses: readonly StatusRange[]): UnfitReason | undefined {
  const { unfit, httpStatus = 0, forms = [], isBrokenOff } = facts
  if (httpStatus >= FIRST_ERROR_STATUS && !isStatusIn(httpStatus, acceptedStatuses)) return 'http_error'
  if (unfit === 'bot_challenge' || isNew('captcha', forms, expected)) return 'bot_challenge'
  if (isBrokenOff) return 'broken_off'
  return isLogin(facts, expected) ? 'login' : unfit
}

const isNew = (kind: FormKind, forms: readonly FormKind[], expected: Expected): boolean =>
  forms.includes(kind) && expected.forms?.includes(kind) === false

/** A password field where there was none, or another final URL that names a login. */
function isLogin({ finalUrl, forms = [] }: PageFacts, expected: Expected): boolean {
  if (isNew('password', forms, expected)) return true
  if (finalUrl === undefined || placeOf(finalUrl) === placeOf(expected.url)) return false
  const isUnexpected = forms.includes('password') && expected.forms === undefined
  return isUnexpected || (LOGIN.test(placeOf(finalUrl)) && !LOGIN.test(placeOf(expected.url)))
}

/** Host and path: a query may differ from load to load. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return url
  const { host, pathname } = new URL(url)
  return host + pathname.replace(/\/$/, '')
}
