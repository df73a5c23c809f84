import { z } from 'zod'
import { option } from '../rules/option-rules.ts'
import { statusRanges } from '../rules/status-ranges.ts'

/** Maximum entries of `compareIgnore`. */
export const MAX_IGNORE_ENTRIES = 20

const MAX_SELECTOR = 1024
const edge = z.int().min(0).max(50_000)
const side = z.int().min(1).max(50_000)

const REGION = ['x', 'y', 'width', 'height']

/** One entry of `compareIgnore`: a selector, or a region in CSS pixels of the page. Exactly one of them, which a CRD can express as `oneOf` only. */
export const IgnoreEntry = z
  .strictObject({
    selector: z.string().min(1).max(MAX_SELECTOR).describe('CSS selector of elements to ignore.').optional(),
    x: edge.describe('Left edge of a region in CSS pixels of the page, 0 to 50000.').optional(),
    y: edge.describe('Top edge, 0 to 50000.').optional(),
    width: side.describe('Width, 1 to 50000.').optional(),
    height: side.describe('Height, 1 to 50000.').optional(),
  })
  .refine(isSelectorOrRegion, { message: 'must have either selector, or x, y, width and height' })
  .meta({
    oneOf: [
      { required: ['selector'], not: { anyOf: REGION.map((side) => ({ required: [side] })) } },
      { required: REGION, not: { required: ['selector'] } },
    ],
  })
export type IgnoreEntry = z.infer<typeof IgnoreEntry>

interface MaybeEntry {
  selector?: unknown
  x?: unknown
  y?: unknown
  width?: unknown
  height?: unknown
}

function isSelectorOrRegion({ selector, x, y, width, height }: MaybeEntry): boolean {
  const given = [x, y, width, height].filter((value) => value !== undefined).length
  return selector === undefined ? given === 4 : given === 0
}

/** Comparison with an earlier picture. */
export const comparisonOptions = {
  compareTo: option(
    { links: 'no', picture: 'separate' },
    z
      .string()
      .max(30)
      .regex(/^scr_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
      .describe(
        'Id of an earlier completed screenshot of the account, with whose picture to compare this one. The record then has comparison. Default: none.',
      ),
  ),
  compareThreshold: option(
    { links: 'no', picture: 'separate' },
    z
      .number()
      .min(0)
      .max(1)
      .describe(
        'Share of changed pixels above which the picture counts as changed, 0 to 1. With 0, one pixel is a change. Default: none, so that each changed region of a few pixels is a change.',
      ),
  ),
  compareColorTolerance: option(
    { links: 'no', picture: 'separate' },
    z
      .number()
      .min(0)
      .max(1)
      .describe('Color difference up to which two pixels count as equal, 0 to 1; 1 is black and white. Default: 0.1.'),
  ),
  compareAntialiasing: option(
    { links: 'no', picture: 'separate' },
    z
      .boolean()
      .describe(
        'Counts changed pixels at the smoothed edges of text and shapes too. If false, they are detected and ignored. Default: false.',
      ),
  ),
  compareAcceptStatus: option(
    { links: 'no', picture: 'separate' },
    statusRanges().describe(
      'HTTP statuses from 400 on with which the page is compared, such as 404 or 500-511, at most 20. Other error pages are not compared. Default: none.',
    ),
  ),
  compareIgnore: option(
    { links: 'no', picture: 'separate' },
    z
      .array(IgnoreEntry)
      .max(MAX_IGNORE_ENTRIES)
      .describe(
        'CSS selectors, or regions with x, y, width and height in CSS pixels of the page, that are not compared, at most 20. The areas of the selectors in both pictures are ignored, if both captures have the selector. Default: none.',
      ),
  ),
}

export const comparisonDefaults = { compareColorTolerance: 0.1, compareAntialiasing: false }
