import { apiKeyIdOf } from '@tintype/crds/identifiers/ids'
import { Annotation } from '@tintype/crds/identifiers/names'
import type { RunApproval } from '@tintype/crds/kinds/schedule-comparison'
import type { ScreenshotSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { isPictureGone, lastApprovalOf, toUndoRequest } from '@tintype/crds/records/approval-history'
import { anId } from '@tintype/crds/schema/wire-fields'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { ApiError } from '../../common/errors.ts'
import { messageBody } from '../../http/envelopes.ts'
import type { Input } from '../../http/route.ts'
import { type ById, changeLatest, findOwnLatest } from '../shared/owned-records.ts'
import { REFUSALS } from './approve.ts'
import type { SchedulesDeps } from './handlers.ts'

// Undo of the last approval. The operator restores the picture.

/** The response to an undo. */
export const ApprovalUndone = messageBody(
  'ApprovalUndone',
  z.object({
    run_id: anId('scr', 'Id of the run whose approval is undone.'),
    baseline_run: anId('scr', 'Id of the run that later runs are compared with. Null: none, until you approve one.').nullable(),
  }),
  'The approval that is undone.',
)

/** Undoes the last approval: later runs are compared with the picture from before. A request that is repeated before it is applied undoes once. */
export async function undoApproval(input: Input<ById>, deps: SchedulesDeps): Promise<FastifyReply> {
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
  return reply.code(202).send({ message, data: { run_id: id, baseline_run: replaced?.id ?? null } })
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
