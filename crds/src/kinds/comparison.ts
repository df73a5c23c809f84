import { z } from 'zod'

// Results of comparisons. Boxes and regions are in pixels of the picture, from its top left corner.

const pixel = (what: string) => z.int().min(0).describe(`${what}, in pixels.`)

/** A rectangle of a picture. */
export const PictureBox = z.object({
  x: pixel('Left edge'),
  y: pixel('Top edge'),
  width: pixel('Width'),
  height: pixel('Height'),
})
export type PictureBox = z.infer<typeof PictureBox>

/** Maximum boxes of one selector. */
export const MAX_IGNORED_BOXES = 32
/** Maximum changed regions of one comparison. */
export const MAX_CHANGED_REGIONS = 20

/** Where the elements of one selector of `compareIgnore` were. A later comparison ignores this area too, even if the element is gone. */
export const IgnoredElements = z.object({
  selector: z.string().max(1024).describe('CSS selector of compareIgnore.'),
  boxes: z.array(PictureBox).max(MAX_IGNORED_BOXES).describe('Areas of its elements in the picture.'),
})
export type IgnoredElements = z.infer<typeof IgnoredElements>

/** Moving elements that a capture names. */
export const MAX_MOVING_ELEMENTS = 8
/** Characters of a selector that a runner builds. */
export const MAX_MOVING_SELECTOR = 200

/** Runs in a row that do not wait for what moves. The next run does, because the page may rest again. */
export const MAX_SHORT_RUNS = 9

/** What in a page did not rest before its picture was taken. Later runs of a schedule do not wait for it. */
export const MovingParts = z.object({
  elements: z.array(z.string().max(MAX_MOVING_SELECTOR)).max(MAX_MOVING_ELEMENTS).describe('CSS selectors of elements that moved.'),
  isEndless: z
    .boolean()
    .describe('True if the page gained content, received data or ran scripts for as long as the capture waited, or moved as a whole.')
    .optional(),
  runs: z.int().min(0).max(MAX_SHORT_RUNS).describe('Runs in a row that did not wait for these parts.').optional(),
})
export type MovingParts = z.infer<typeof MovingParts>

/** Forms of a page by which a login or a captcha is recognized. */
export const FormKind = z.enum(['password', 'captcha'])
export type FormKind = z.infer<typeof FormKind>

/** What drew a picture. Another one may draw the same page differently. */
export const Engine = z.object({
  chromium: z.string().max(64).describe('Version of Chromium.'),
  runner: z.string().max(64).describe('Version of the runner.'),
  architecture: z.string().max(16).describe('Architecture of the processor, such as x64 or arm64.'),
  fonts: z.string().max(64).describe('Hash of the names and sizes of the fonts.'),
  text: z.int().min(1).describe('Version of the rules by which the runner reads the visible text. Absent: 1.').optional(),
})
export type Engine = z.infer<typeof Engine>

/** Whether two pictures were drawn by the same engine; undefined: one of them is not known. */
export const isSameEngine = (one: Engine | undefined, other: Engine | undefined): boolean | undefined =>
  one && other && (Object.keys(Engine.shape) as (keyof Engine)[]).every((field) => field === 'text' || one[field] === other[field])

/** Whether the visible texts of two captures were read by the same rules, so that their words can be compared. */
export const isSameText = (one: Engine | undefined, other: Engine | undefined): boolean => (one?.text ?? 1) === (other?.text ?? 1)

/** Reasons why a picture may not show the page. Such a picture is not compared. */
export const UNFIT_REASONS = ['blank', 'bot_challenge', 'http_error', 'login', 'broken_off'] as const
export const UnfitReason = z.enum(UNFIT_REASONS)
/** What the reasons mean, for descriptions. */
export const UNFIT_MEANING =
  'blank: nearly one color. bot_challenge: a bot challenge or a captcha. http_error: a status of 400 or more that is not accepted. login: a login form where there was none. broken_off: the response broke off.'
export type UnfitReason = z.infer<typeof UnfitReason>

/** Maximum changed words of each kind, and characters of each. */
export const MAX_CHANGED_WORDS = 20
export const MAX_WORD_LENGTH = 64
const words = (what: string) => z.array(z.string().max(MAX_WORD_LENGTH)).max(MAX_CHANGED_WORDS).describe(what)

/** What decided whether a picture changed. */
export const COMPARISON_RULES = ['identical', 'regions', 'color', 'size', 'share', 'loads', 'text', 'engine'] as const
export const ComparisonRule = z
  .enum(COMPARISON_RULES)
  .describe(
    'What decided. identical: no pixel differs. regions: whether a region of a few pixels differs. color: an area changed its color a little. size: only the sizes were compared. share: the share of pixels that the request sets. loads: two loads of the page differ from each other wherever they differ from the earlier picture. text: the same, but both loads show the same other words; the regions are where the loads differ. engine: another browser or other fonts drew the earlier picture, so words and large differences decided.',
  )
export type ComparisonRule = z.infer<typeof ComparisonRule>

/** The comparison with the picture of `compareTo`. */
export const Comparison = z.object({
  changed: z.boolean().describe('True if the page changed. rule says what decided.'),
  changedPixels: z.int().min(0).describe('Number of pixels in the changed regions that differ.').optional(),
  changedRatio: z.number().min(0).max(1).describe('Changed pixels as a share of all pixels, 0 to 1.').optional(),
  sizeChanged: z.boolean().describe('True if the pictures have different widths or heights.').optional(),
  regions: z
    .array(PictureBox)
    .max(MAX_CHANGED_REGIONS)
    .describe('Changed regions, the largest change first. They do not overlap.')
    .optional(),
  regionCount: z.int().min(0).describe('Number of changed regions, of which regions has the first 20.').optional(),
  droppedRegions: z.int().min(0).describe('Number of regions that do not count, because two loads of the page differ there.').optional(),
  rule: ComparisonRule.optional(),
  loads: z.int().min(1).max(2).describe('How often the page was loaded: a change is confirmed by a second load.').optional(),
  engineChanged: z.boolean().describe('True if another browser or other fonts drew the earlier picture. Absent: not known.').optional(),
  textChanged: z.boolean().describe('True if the visible text changed, also outside of the picture. Absent: not known.').optional(),
  wordsAdded: words('New words of the visible text, at most 20.').optional(),
  wordsRemoved: words('Words that are gone, at most 20.').optional(),
  skipped: UnfitReason.describe(`Why the pictures were not compared. ${UNFIT_MEANING}`).optional(),
})
export type Comparison = z.infer<typeof Comparison>
