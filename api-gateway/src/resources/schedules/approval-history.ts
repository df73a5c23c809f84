import type { ScreenshotSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { isPictureGone, lastApprovalOf } from '@tintype/crds/records/approval-history'
import { anId, instant } from '@tintype/crds/schema/wire-fields'
import { z } from 'zod'
import { iso, isoOrNull } from '../../http/fields.ts'
import { name } from '../../http/named-schemas.ts'

// The history of approvals in the record of a schedule.

const approver = (what: string) =>
  z.string().nullable().describe(`${what}: the id of an API key, or the text of the annotation tintype.dev/approved-by. Null: not known.`)

/** An approval in the record of a schedule. */
export const ApprovalRecord = name(
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
export function toApprovalRecords(status: ScreenshotSchedule['status']): z.infer<typeof ApprovalRecord>[] {
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
