import { apiKeyIdOf, scheduleIdOf } from '@tintype/crds/identifiers/ids'
import { Annotation } from '@tintype/crds/identifiers/names'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { RunApproval, ScreenshotSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import {
  type ApprovalRefusal,
  chooseRun,
  findApprovalProblem,
  isPictureGone,
  isRunOf,
  LATEST_RUN,
  lastApprovalOf,
  toUndoRequest,
} from '@tintype/crds/records/approval'
import { accountOf } from '@tintype/crds/records/record'
import { anId } from '@tintype/crds/schema/fields'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { findRecord } from '../../archive/find-record.ts'
import { ApiError, notFound } from '../../common/errors.ts'
import { jsonBody } from '../../http/body.ts'
import { messageBody } from '../../http/envelopes.ts'
import { name } from '../../http/named-schemas.ts'
import type { Input } from '../../http/route.ts'
import { assertComparable } from '../screenshots/check-baseline.ts'
import { type ById, changeLatest, findOwnLatest } from '../shared/owned-records.ts'
import { runId } from './record.ts'
import type { SchedulesDeps } from './routes.ts'

// Approval of a run, and its undo. The gateway requests both with an annotation, and the operator copies the picture.

export const ApproveSchedule = name(
  'ApproveRun',
  z
    .strictObject({
      run_id: z
        .union([runId, z.literal(LATEST_RUN)], { error: 'must be the id of a run, or latest' })
        .optional()
        .describe('Id of the run. Default: latest, the last compared one.'),
    })
    .describe('The run to approve.'),
)

/** Body of POST /schedules/{id}/approve. */
export const approveBody = jsonBody({
  schema: ApproveSchedule,
  required: false,
  examples: {
    one: { summary: 'A certain run', value: { run_id: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x6z' } },
    last: { summary: 'The last compared run', value: {} },
  },
})

/** The response to an approval. */
export const RunApproved = messageBody('RunApproved', z.object({ run_id: runId }), 'The approved run.')

/** Approves a run: later runs are compared with its picture. A second approval of the same run changes nothing. */
export async function approveRun(input: Input<ById, z.infer<typeof ApproveSchedule>>, deps: SchedulesDeps): Promise<FastifyReply> {
  const { request, reply, body } = input
  const approved = await changeLatest({
    read: () => findOwnLatest(input, deps.schedules, 'schedule'),
    change: async (schedule) => {
      const { id, isApproved } = await findApprovable(schedule, body.run_id ?? LATEST_RUN, deps)
      // A request that the operator has not applied yet may name another run.
      const next = schedule.metadata.annotations?.[Annotation.approve] ?? (isApproved ? id : undefined)
      const annotations = { [Annotation.approve]: id, [Annotation.approvedBy]: apiKeyIdOf(request.apiKey.metadata) }
      if (next !== id) await deps.schedules.patch(schedule, { metadata: { annotations } })
      return id
    },
  })
  return reply.code(202).send({ message: 'Run approved. Later runs are compared with its picture.', data: { run_id: approved } })
}

/** Why nothing can be approved. */
const REFUSALS: Readonly<Record<ApprovalRefusal, string>> = {
  mode: 'the runs of this schedule need no approval: set comparison.baseline to approved first',
  none: 'no run has succeeded yet: approve one later',
  id: 'run_id is not the id of a run',
}

/** Finds the run that a request names. @throws ApiError if it cannot be approved */
async function findApprovable(
  schedule: ScreenshotSchedule,
  request: string,
  deps: SchedulesDeps,
): Promise<{ id: string; isApproved: boolean }> {
  const choice = chooseRun(schedule, request)
  if ('refusal' in choice) throw new ApiError('CONFLICT', REFUSALS[choice.refusal])
  if (!choice.isApproved) {
    const run = await findRun(schedule, choice.id, deps)
    await assertComparable(run, { field: 'run_id', problem: findApprovalProblem(run, schedule) }, deps)
  }
  return choice
}

/** A run of the schedule, live or archived. @throws ApiError NOT_FOUND */
async function findRun(schedule: ScreenshotSchedule, id: string, deps: SchedulesDeps): Promise<Screenshot> {
  const found = await findRecord(accountOf(schedule), id, deps)
  if (!found || !isRunOf(found.screenshot, id, schedule)) throw notFound(`run ${id} of schedule ${scheduleIdOf(schedule.metadata)}`)
  return found.screenshot
}

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
