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

/** Reasons why a picture may not show the page. Such a picture is not compared. */
export const UNFIT_REASONS = ['blank', 'bot_challenge'] as const
export const UnfitReason = z.enum(UNFIT_REASONS)
export type UnfitReason = z.infer<typeof UnfitReason>

/** The comparison with the picture of `compareTo`. */
export const Comparison = z.object({
  changed: z.boolean().describe('True if the share of changed pixels exceeds compareThreshold.'),
  changedPixels: z.int().min(0).describe('Number of changed pixels.').optional(),
  changedRatio: z.number().min(0).max(1).describe('Changed pixels as a share of all pixels, 0 to 1.').optional(),
  sizeChanged: z.boolean().describe('True if the pictures have different widths or heights.').optional(),
  regions: z.array(PictureBox).max(MAX_CHANGED_REGIONS).describe('Changed regions, the largest change first.').optional(),
  skipped: UnfitReason.describe('Why the pictures were not compared: this picture shows one color, or a bot challenge.').optional(),
})
export type Comparison = z.infer<typeof Comparison>
