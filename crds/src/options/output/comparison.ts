import { z } from 'zod'
import { formed, group, list, NOT_IN_LINKS, number, off } from '../rules/declare.ts'
import { statusRanges } from '../rules/texts.ts'

/** Maximum entries of `compareIgnore`. */
export const MAX_IGNORE_ENTRIES = 20

const MAX_SELECTOR = 1024
const edge = z.int().min(0).max(50_000)
const side = z.int().min(1).max(50_000)

/** `y` without quotation marks is a boolean in YAML 1.1, which kubectl reads. So `left` and `top` are accepted too. */
const HORIZONTAL = ['x', 'left']
const VERTICAL = ['y', 'top']
const SIZE = ['width', 'height']
const oneOf = (names: readonly string[]) => ({ oneOf: names.map((name) => ({ required: [name] })) })

/** One entry of `compareIgnore`: a selector, or a region in CSS pixels of the page. Exactly one of them, which a CRD can express as `oneOf` only. */
export const IgnoreEntry = z
  .strictObject({
    selector: z.string().min(1).max(MAX_SELECTOR).describe('CSS selector of elements to ignore.').optional(),
    x: edge.describe('Left edge of a region in CSS pixels of the page, 0 to 50000.').optional(),
    y: edge.describe('Top edge, 0 to 50000.').optional(),
    left: edge.describe('The same as x. Use it in YAML.').optional(),
    top: edge.describe('The same as y. Use it in YAML, where y without quotation marks is a boolean.').optional(),
    width: side.describe('Width, 1 to 50000.').optional(),
    height: side.describe('Height, 1 to 50000.').optional(),
  })
  .refine(isSelectorOrRegion, { message: 'must have either selector, or x (or left), y (or top), width and height' })
  .meta({
    oneOf: [
      { required: ['selector'], not: { anyOf: [...HORIZONTAL, ...VERTICAL, ...SIZE].map((name) => ({ required: [name] })) } },
      { required: SIZE, not: { required: ['selector'] }, allOf: [oneOf(HORIZONTAL), oneOf(VERTICAL)] },
    ],
  })
export type IgnoreEntry = z.infer<typeof IgnoreEntry>

function isSelectorOrRegion(entry: Readonly<Record<string, unknown>>): boolean {
  const count = (names: readonly string[]) => names.filter((name) => entry[name] !== undefined).length
  const given = [count(HORIZONTAL), count(VERTICAL), count(SIZE)]
  return entry.selector === undefined ? given.join() === '1,1,2' : given.join() === '0,0,0'
}

/** The region of an entry; undefined for a selector. */
export function regionOf({ x, y, left = x, top = y, width, height }: IgnoreEntry) {
  const isRegion = left !== undefined && top !== undefined && width !== undefined && height !== undefined
  return isRegion ? { x: left, y: top, width, height } : undefined
}

const ID_FORM = 'must be the id of a screenshot: scr_ and 26 letters and digits'

const HEADING = ['Comparison', 'See [comparisons.md](comparisons.md).'] as const

/** Comparison with an earlier picture. */
export const comparisonGroup = group(HEADING, NOT_IN_LINKS, {
  compareTo: formed(30, /^scr_[0-7][0-9a-hjkmnp-tv-z]{25}$/, { form: ID_FORM, example: 'scr_6ybsne2r7m8z0q3x5v1c4h9kfd' })(
    'Id of an earlier completed screenshot of the account, with whose picture to compare this one. The record then has comparison.',
  ),
  compareThreshold: number(0, 1, { absent: 'none, so that each changed region of a few pixels is a change', example: 0.01 })(
    'Share of changed pixels above which the picture counts as changed. With 0, one pixel is a change.',
  ),
  compareColorTolerance: number(0, 1, { default: 0.1, example: 0.05 })(
    'Color difference up to which two pixels count as equal; 1 is black and white.',
  ),
  compareAntialiasing: off('Counts changed pixels at the smoothed edges of text and shapes too. If false, they are detected and ignored.'),
  compareAcceptStatus: statusRanges({ example: ['404'] })(
    'HTTP statuses from 400 on with which the page is compared, such as 404 or 500-511. Other error pages are not compared.',
  ),
  compareIgnore: list(IgnoreEntry, MAX_IGNORE_ENTRIES, {
    isSelector: true,
    example: [{ selector: '#clock' }, { x: 0, y: 0, width: 320, height: 60 }],
  })(
    'CSS selectors, or regions with x, y, width and height (or left, top, width and height) in CSS pixels of the page, that are not compared. The areas of the selectors in both pictures are ignored, if both captures have the selector.',
  ),
})
