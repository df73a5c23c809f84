import { apiKeyIdOf } from '@tintype/crds/identifiers/ids'
import { Annotation } from '@tintype/crds/identifiers/names'
import type { RunApproval } from '@tintype/crds/kinds/schedule-comparison'
import type { ScreenshotSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { isPictureGone, lastApprovalOf, toUndoRequest } from '@tintype/crds/records/approval-history'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { ApiError } from '../../common/errors.ts'
import { anId, instant } from '../../http/fields.ts'
import { name } from '../../http/named-schemas.ts'
import type { Input } from '../../http/route.ts'
import { changeLatest, FRESH, findOwnLatest } from '../shared/owned-records.ts'
import { REFUSALS } from './approve.ts'
import type { SchedulesDeps } from './handlers.ts'

// The history of approvals, and its undo. The operator restores the picture.

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
    approved_at: new Date(approval.approvalTime).toISOString(),
    approved_by: approval.by ?? null,
    replaced_run: approval.replaced?.id ?? null,
    can_undo: approval === last && !isPictureGone(approval),
    undone_at: approval.undoneTime === undefined ? null : new Date(approval.undoneTime).toISOString(),
    undone_by: approval.undoneBy ?? null,
  }))
}

/** The response to an undo. */
export const ApprovalUndone = name(
  'ApprovalUndone',
  z
    .object({
      message: z.string(),
      data: z.object({
        run_id: anId('scr', 'Id of the run whose approval is undone.'),
        baseline_run: anId('scr', 'Id of the run that later runs are compared with. Null: none, until you approve one.').nullable(),
      }),
    })
    .describe('The approval that is undone.'),
)

/** Undoes the last approval: later runs are compared with the picture from before. A request that is repeated before it is applied undoes once. */
export async function undoApproval(input: Input<{ id: string }>, deps: SchedulesDeps): Promise<FastifyReply> {
  const { request, reply } = input
  const { id, replaced } = await changeLatest({
    read: () => findOwnLatest(input, deps.schedules, 'schedule'),
    change: async (schedule) => {
      const approval = findUndoable(schedule)
      const annotations = { [Annotation.approve]: toUndoRequest(approval), [Annotation.approvedBy]: apiKeyIdOf(request.apiKey.metadata) }
      await deps.schedules.patch(schedule, { metadata: { annotations } })
      return approval
    },
  })
  const message = replaced
    ? 'Approval undone. Later runs are compared with the picture from before.'
    : 'Approval undone. Runs are not compared until you approve one.'
  return reply
    .headers(FRESH)
    .code(202)
    .send({ message, data: { run_id: id, baseline_run: replaced?.id ?? null } })
}

/** @throws ApiError CONFLICT, EXPIRED */
function findUndoable(schedule: ScreenshotSchedule): RunApproval {
  if (schedule.spec.comparison?.baseline !== 'Approved') throw new ApiError('CONFLICT', REFUSALS.mode)
  const last = lastApprovalOf(schedule)
  if (!last) throw new ApiError('CONFLICT', 'this schedule has no approval to undo')
  if (!isPictureGone(last)) return last
  throw new ApiError(
    'EXPIRED',
    `the picture of run ${last.replaced?.id} is gone: an approval can be undone for 30 days. Approve another run.`,
  )
}
