import { z } from 'zod'
import { isScreenshotId } from '../identifiers/ids.ts'
import type { CaptureOptions } from '../options/catalog.ts'
import { comparisonGroup } from '../options/output/comparison.ts'
import { ImageFormat } from '../options/output/formats.ts'
import { type CelRule, instant } from '../schema/custom-resource.ts'
import { Comparison } from './comparison.ts'
import { KeptBaseline } from './screenshot.ts'

// How a schedule compares its runs.

/** The fields of `spec.comparison`. REST has the same in snake case. */
export const comparisonFields = {
  baseline: z
    .enum(['Previous', 'Approved'])
    .describe(
      'Picture that a run is compared with. Previous: that of the run before. Approved: the one that was approved last. Default: Previous.',
    ),
  threshold: comparisonGroup.options.compareThreshold,
  colorTolerance: comparisonGroup.options.compareColorTolerance,
  antialiasing: comparisonGroup.options.compareAntialiasing,
  ignore: comparisonGroup.options.compareIgnore,
  acceptStatus: comparisonGroup.options.compareAcceptStatus,
  approveFirst: z
    .boolean()
    .describe('With the baseline Approved: approves the first run that shows the page. If false, it waits for a person. Default: false.'),
} as const

export const ScheduleComparison = z.object(comparisonFields).partial()
export type ScheduleComparison = z.infer<typeof ScheduleComparison>

/** Options that the runs of a schedule with a comparison get from it. */
const OWN_OPTIONS = Object.keys(comparisonGroup.options) as (keyof CaptureOptions & string)[]
/** Options that move the ignored areas. */
const MOVING_OPTIONS = ['imageWidth', 'imageHeight', 'imageTrim', 'imagePadding', 'imageMaxBytes'] as const

/** The part of a schedule's spec that decides whether its runs can be compared. */
interface Compared {
  comparison?: ScheduleComparison | undefined
  template: { options?: CaptureOptions | undefined }
}

/** A field of the template that a schedule with a comparison cannot have. */
export interface ComparisonConflict {
  /** The option of the template, in camel case. */
  option: keyof CaptureOptions & string
  /** What is wrong, and how to fix it. Names are in camel case. */
  message: string
  /** The check in CEL, for the spec of a schedule. */
  rule: string
  holds: (spec: Compared) => boolean
}

const HAS_OPTIONS = 'has(self.comparison) && has(self.template.options)'

/** Every conflict between `comparison` and the options of the template. The API server and the programs check the same. */
export const comparisonConflicts: readonly ComparisonConflict[] = [
  {
    option: 'format',
    message: 'comparison needs a picture: set template.options.format to png, jpeg, webp or avif, or remove comparison',
    rule: `!(${HAS_OPTIONS}) || !has(self.template.options.format) || self.template.options.format in ["png", "jpeg", "webp", "avif"]`,
    holds: ({ comparison, template: { options = {} } }) =>
      comparison !== undefined && options.format !== undefined && !ImageFormat.safeParse(options.format).success,
  },
  ...OWN_OPTIONS.map(
    (option): ComparisonConflict => ({
      option,
      message: `comparison sets ${option} of each run: remove it from template.options`,
      rule: `!(${HAS_OPTIONS}) || !has(self.template.options.${option})`,
      holds: ({ comparison, template: { options = {} } }) => comparison !== undefined && options[option] !== undefined,
    }),
  ),
  ...MOVING_OPTIONS.map(
    (option): ComparisonConflict => ({
      option,
      message: `comparison.ignore and ${option} exclude each other, because the areas would move: remove one of them`,
      rule: `!(${HAS_OPTIONS}) || !has(self.comparison.ignore) || !has(self.template.options.${option})`,
      holds: ({ comparison, template: { options = {} } }) => comparison?.ignore !== undefined && options[option] !== undefined,
    }),
  ),
]

/** The same checks for the API server. */
export const comparisonRules: CelRule[] = comparisonConflicts.map(({ rule, message }) => ({ rule, message }))

const runId = (what: string) => z.string().max(30).refine(isScreenshotId).describe(what)

/** The picture that the next run is compared with. It is a copy, which is kept until another one replaces it. */
export const ScheduleBaseline = KeptBaseline.extend({
  id: runId('Id of the run whose picture it is.'),
  time: instant('Time at which that run was due.'),
})
export type ScheduleBaseline = z.infer<typeof ScheduleBaseline>

/** Approvals in the status. */
export const MAX_APPROVALS = 10
/** Characters of the name of a person or a key. */
export const MAX_APPROVER = 100

const approver = (what: string) =>
  z.string().max(MAX_APPROVER).describe(`${what}: the id of an API key, or the text of the annotation tintype.dev/approved-by.`)

/** The picture that an approval replaced. Its other facts are in the record of its run. */
export const ReplacedBaseline = z.object({
  id: runId('Id of the run whose picture it is.'),
  time: instant('Time at which that run was due.'),
  etag: KeptBaseline.shape.etag.describe('ETag of the picture. Absent: the picture is gone.').optional(),
  textEtag: z.string().max(128).describe('ETag of its text.').optional(),
})
export type ReplacedBaseline = z.infer<typeof ReplacedBaseline>

/** An approval of a run by a person. */
export const RunApproval = z.object({
  id: runId('Id of the approved run.'),
  approvalTime: instant('Time of the approval.'),
  by: approver('Who approved it').optional(),
  replaced: ReplacedBaseline.describe('Picture that runs were compared with before. Absent: there was none.').optional(),
  undoneTime: instant('Time at which the approval was undone.').optional(),
  undoneBy: approver('Who undid it').optional(),
})
export type RunApproval = z.infer<typeof RunApproval>

/** The result of the last run that was compared. */
export const LastComparison = z.object({
  id: runId('Id of the run.'),
  time: instant('Time at which the run was due.'),
  to: runId('Id of the run that it was compared with.'),
  changed: z.boolean().describe('True if the page changed.'),
  changedRatio: z.number().min(0).max(1).describe('Changed pixels as a share of all pixels, 0 to 1.').optional(),
  changedPixels: z.int().min(0).describe('Number of changed pixels.').optional(),
  sizeChanged: z.boolean().describe('True if the pictures have different sizes.').optional(),
  textChanged: Comparison.shape.textChanged,
  wordsAdded: Comparison.shape.wordsAdded,
  wordsRemoved: Comparison.shape.wordsRemoved,
})
export type LastComparison = z.infer<typeof LastComparison>
