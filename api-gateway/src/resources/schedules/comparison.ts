import {
  comparisonConflicts,
  comparisonFields,
  type ScheduleComparison,
  type ScreenshotSchedule,
  type ScreenshotScheduleSpec,
} from '@tintype/crds/kinds/screenshot-schedule'
import { type CaptureOptions, captureDefaults } from '@tintype/crds/options/catalog'
import { isPictureGone, lastApprovalOf, waitingRunOf } from '@tintype/crds/records/approval'
import { ConditionType, findCondition } from '@tintype/crds/schema/conditions'
import { anId, count, instant } from '@tintype/crds/schema/fields'
import { renameKeys, toCamelCase, toSnakeCase } from '@tintype/crds/text/words'
import { z } from 'zod'
import type { Problem } from '../../common/errors.ts'
import { definedOf, iso, isoOrNull, name, toPatchFields } from '../../http/fields.ts'
import { compareIgnore } from '../screenshots/options/ignore-entries.ts'

// How a schedule compares its runs, in bodies and records.

/** REST has lower-case values. */
const Baseline = z
  .enum(['previous', 'approved'])
  .describe(
    'Picture that a run is compared with. previous: that of the run before. approved: the one that was approved last. Default: previous.',
  )
const toMode = { previous: 'Previous', approved: 'Approved' } as const

const { threshold, colorTolerance, antialiasing, acceptStatus, approveFirst } = comparisonFields

/** The field `comparison` of a body. */
export const ComparisonBody = name(
  'ScheduleComparisonRequest',
  z
    .strictObject({
      baseline: Baseline.optional(),
      threshold: threshold.optional(),
      color_tolerance: colorTolerance.optional(),
      antialiasing: antialiasing.optional(),
      ignore: compareIgnore,
      accept_status: acceptStatus.optional(),
      approve_first: approveFirst.optional(),
    })
    .describe('How runs are compared with an earlier picture.'),
)
export type ComparisonBody = z.infer<typeof ComparisonBody>

/** The same in a merge patch. */
export const ComparisonChanges = name(
  'ScheduleComparisonChanges',
  z.strictObject(toPatchFields(ComparisonBody.shape)).describe('Settings of the comparison to change. Null restores a default.'),
)
export type ComparisonChanges = z.infer<typeof ComparisonChanges>

// The history of approvals.

const approver = (what: string) =>
  z.string().nullable().describe(`${what}: the id of an API key, or the text of the annotation tintype.dev/approved-by. Null: not known.`)

/** An approval in the record of a schedule. */
const ApprovalRecord = name(
  'ScheduleApproval',
  z
    .object({
      run_id: anId('scr', 'Id of the approved run.'),
      approved_at: instant('Time of the approval.'),
      approved_by: approver('Who approved it'),
      replaced_run: anId('scr', 'Id of the run that runs were compared with before. Null: there was none.').nullable(),
      can_undo: z.boolean().describe('Whether this is the last approval, and the picture that it replaced still exists.'),
      undone_at: instant('Time at which the approval was undone. Null: it was not.').nullable(),
      undone_by: approver('Who undid it'),
    })
    .describe('An approval of a run.'),
)

/** The history of a record, the newest approval first. */
function toApprovalRecords(status: ScreenshotSchedule['status']): z.infer<typeof ApprovalRecord>[] {
  const last = lastApprovalOf({ status })
  return (status?.approvals ?? []).map((approval) => ({
    run_id: approval.id,
    approved_at: iso(approval.approvalTime),
    approved_by: approval.by ?? null,
    replaced_run: approval.replaced?.id ?? null,
    can_undo: approval === last && !isPictureGone(approval),
    undone_at: isoOrNull(approval.undoneTime),
    undone_by: approval.undoneBy ?? null,
  }))
}

/** The field `comparison` of a record. */
export const ComparisonRecord = name(
  'ScheduleComparison',
  z
    .object({
      baseline: Baseline,
      threshold: threshold.nullable(),
      color_tolerance: colorTolerance,
      antialiasing: antialiasing,
      ignore: z.array(z.record(z.string(), z.unknown())).describe('Selectors and regions that are not compared.'),
      accept_status: acceptStatus,
      approve_first: approveFirst,
      baseline_run: anId('scr', 'Id of the run whose picture the next run is compared with. Null: there is none yet.').nullable(),
      waiting_run: anId('scr', 'Id of the run that waits for a person to approve it. Null: none does.').nullable(),
      fit: z.boolean().nullable().describe('Whether the last run shows the page. Null: no run has ended.'),
      approvals: z.array(ApprovalRecord).describe('The last ten approvals, the newest first.'),
      last: z
        .object({
          id: anId('scr', 'Id of the run.'),
          scheduled_at: instant('Time at which the run was due.'),
          to: anId('scr', 'Id of the run that it was compared with.'),
          changed: z.boolean().describe('True if the page changed.'),
          changed_ratio: z.number().min(0).max(1).nullable().describe('Changed pixels as a share of all pixels, 0 to 1.'),
          changed_pixels: count('Number of changed pixels.').nullable(),
          size_changed: z.boolean().nullable().describe('True if the pictures have different sizes.'),
          text_changed: z.boolean().nullable().describe('True if the visible text changed. Null: not known.'),
          words_added: z.array(z.string()).describe('New words, at most 20.'),
          words_removed: z.array(z.string()).describe('Words that are gone, at most 20.'),
        })
        .nullable()
        .describe('The last comparison. Null before the first one, and after its run was approved.'),
    })
    .describe('How runs are compared, and the last result.'),
)
export type ComparisonRecord = z.infer<typeof ComparisonRecord>

/** The field of the spec, or its merge patch. */
export const toComparisonSpec = ({ baseline, ...same }: ComparisonChanges): ScheduleComparison =>
  renameKeys(definedOf({ ...same, baseline: baseline && toMode[baseline] }), toCamelCase) as ScheduleComparison

/** Finds options that contradict `comparison`. */
export function findComparisonProblems(comparison: ScheduleComparison | undefined, options: CaptureOptions | undefined): Problem[] {
  const spec = { comparison, template: { options } }
  return comparisonConflicts
    .filter(({ holds }) => holds(spec))
    .map(({ option, message }) => ({
      path: `options.${toSnakeCase(option)}`,
      code: 'contradiction',
      message: message.replaceAll('template.options', 'options').replaceAll(option, toSnakeCase(option)),
    }))
}

function toLast(last: NonNullable<NonNullable<ScreenshotSchedule['status']>['lastComparison']>): ComparisonRecord['last'] {
  const { id, time, to, changed, changedRatio, changedPixels, sizeChanged, textChanged, wordsAdded = [], wordsRemoved = [] } = last
  return {
    ...{ id, scheduled_at: iso(time), to, changed },
    changed_ratio: changedRatio ?? null,
    changed_pixels: changedPixels ?? null,
    size_changed: sizeChanged ?? null,
    text_changed: textChanged ?? null,
    words_added: wordsAdded,
    words_removed: wordsRemoved,
  }
}

/** The field of the record; null if runs are not compared. */
export function toComparisonRecord(
  comparison: ScreenshotScheduleSpec['comparison'],
  status: NonNullable<ScreenshotSchedule['status']> = {},
): ComparisonRecord | null {
  if (!comparison) return null
  const { baseline, lastComparison, conditions } = status
  const fit = findCondition(conditions, ConditionType.fit)
  return {
    baseline: comparison.baseline === 'Approved' ? 'approved' : 'previous',
    threshold: comparison.threshold ?? null,
    color_tolerance: comparison.colorTolerance ?? captureDefaults.compareColorTolerance,
    antialiasing: comparison.antialiasing ?? captureDefaults.compareAntialiasing,
    ignore: comparison.ignore ?? [],
    accept_status: comparison.acceptStatus ?? [],
    approve_first: comparison.approveFirst ?? false,
    baseline_run: baseline?.id ?? null,
    waiting_run: waitingRunOf({ comparison, status }) ?? null,
    fit: fit ? fit.status === 'True' : null,
    approvals: toApprovalRecords(status),
    last: lastComparison ? toLast(lastComparison) : null,
  }
}
