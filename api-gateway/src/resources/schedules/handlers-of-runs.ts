import { apiKeyIdOf, isScreenshotId, scheduleIdOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
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
import { parseKeys } from '@tintype/crds/records/ignored-objects'
import { accountOf } from '@tintype/crds/records/record'
import { readRun, toRunSpec } from '@tintype/crds/records/run'
import { runKey, runsPrefix } from '@tintype/crds/records/storage-keys'
import { mapConcurrently } from '@tintype/crds/runtime/lists'
import { anId } from '@tintype/crds/schema/fields'
import { readParsed } from '@tintype/crds/storage/stored-objects'
import { unitsOf } from '@tintype/crds/usage/usage'
import { eventSubjectOf } from '@tintype/crds/webhooks/events'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { findRecord } from '../../archive/find-record.ts'
import { ApiError, notFound } from '../../common/errors.ts'
import { buildScreenshot, planScreenshots } from '../../creation/plan.ts'
import { jsonBody } from '../../http/body.ts'
import { messageBody, name } from '../../http/fields.ts'
import { setQueuePositionHeader, setReplayedHeader } from '../../http/headers.ts'
import { type QueryOf, queryParameter } from '../../http/query.ts'
import type { Input } from '../../http/route.ts'
import { traceparentOf } from '../../plugins/requests.ts'
import type { KeyStore, ObjectStore, RecordStore } from '../../store/ports.ts'
import { assertComparable } from '../screenshots/check-baseline.ts'
import { createSingle, toCreated } from '../screenshots/create.ts'
import { POLL_SECONDS, type ScreenshotsDeps } from '../screenshots/deps.ts'
import { kindOf, pathOf } from '../screenshots/kind.ts'
import { readRecord } from '../screenshots/links.ts'
import { limit } from '../shared/offset-page.ts'
import { type ById, changeLatest, findOwn, findOwnLatest } from '../shared/owned-records.ts'
import { ensureDefaultWebhook } from '../webhooks/webhook-object.ts'
import { assertCanUse, assertRunWithin, findKeyPolicy } from './capture-policy.ts'
import { runId, toActiveRun, toEndedRun } from './fields.ts'

// Runs of a schedule: an extra one that a client starts, and the list of all.

export interface SchedulesDeps extends ScreenshotsDeps {
  objects: ScreenshotsDeps['objects'] & Pick<ObjectStore, 'list' | 'read'>
  schedules: RecordStore<ScreenshotSchedule>
  keys: Pick<KeyStore, 'findById'>
  /** Maximum schedules per account. */
  maxSchedules: number
}

/** A run takes everything from its schedule. Fields that a client sends by mistake are refused. */
export const runBody = jsonBody({
  schema: name('RunSchedule', z.strictObject({}).describe('Nothing: a run takes everything from its schedule.')),
  required: false,
  examples: { empty: { summary: 'Nothing', value: {} } },
})

/** Creates a run now, also of a suspended schedule. It costs what a POST /screenshots or POST /videos costs. */
export async function runSchedule(input: Input<ById, object>, deps: SchedulesDeps): Promise<FastifyReply> {
  const { request, reply } = input
  const { account, accountName } = request
  const schedule = await findOwn(input, deps.schedules, 'schedule')
  const { template } = schedule.spec
  assertCanUse(schedule, request.apiKey)
  const keyPolicy = await findKeyPolicy(schedule, deps.keys)
  assertRunWithin(schedule, keyPolicy)
  const subject = eventSubjectOf({ spec: template })
  const execution = await deps.idempotency.begin({
    account: accountName,
    key: request.headers['idempotency-key'],
    route: `POST /schedules/${scheduleIdOf(schedule.metadata)}/run`,
    body: null,
    admit: () => deps.queue.check(account, 1),
    newPlan: () => planScreenshots(deps.now(), 1, false, deps.queue.estimate(account, 1, subject)),
  })
  const { plan } = execution
  const build = async () => {
    if (template.webhookUrl !== undefined) await ensureDefaultWebhook(accountName, deps)
    const draft = { ...toRunSpec(schedule, new Date(plan.at), keyPolicy), reservation: plan.reservation }
    const notes = { estimatedTime: plan.estimatedTime, traceparent: traceparentOf(request) }
    return plan.ids.map((id) => buildScreenshot(id, draft, notes))
  }
  const created = await createSingle({ account, execution, units: unitsOf(template), build }, deps)
  deps.metrics.screenshotsCreated.inc()
  return sendRun(input, created, setReplayedHeader(reply, execution), deps)
}

function sendRun({ request }: Pick<Input, 'request'>, created: Screenshot, reply: FastifyReply, deps: SchedulesDeps): FastifyReply {
  const { record } = readRecord(created, request, deps)
  return setQueuePositionHeader(reply, deps.queue.positionOf(created, request.account))
    .code(202)
    .headers({ location: pathOf(kindOf(created), screenshotIdOf(created.metadata)), 'retry-after': POLL_SECONDS })
    .send(toCreated(record))
}

/** Query of the runs of a schedule. */
export const runsQuery = {
  limit,
  cursor: queryParameter<string>({
    description: '`next_cursor` of the previous page.',
    schema: runId,
    example: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x6z',
    expected: 'the next_cursor of an earlier page of the same list',
    parse: (text) => (isScreenshotId(text) ? text : undefined),
  }),
}
export type RunsQuery = QueryOf<typeof runsQuery>

/** Concurrent reads from the bucket. */
const READS = 32

/** Lists the runs of a schedule, the newest first: those that have not ended from its status, the others from the bucket. */
export async function listRuns(input: Input<ById, undefined, RunsQuery>, deps: SchedulesDeps) {
  const { query } = input
  const schedule = await findOwn(input, deps.schedules, 'schedule')
  const active = new Map((schedule.status?.active ?? []).map((run) => [run.id, run]))
  const stored = await listStored(schedule, query, deps)
  const isAfter = (id: string) => query.cursor === undefined || id > query.cursor
  // Ids of older runs are greater.
  const ids = [...new Set([...stored, ...[...active.keys()].filter(isAfter)])].sort()
  const page = ids.slice(0, query.limit)
  const runs = await mapConcurrently(page, READS, async (id) => {
    const ended = stored.includes(id) ? await readEnded(schedule, id, deps) : undefined
    const open = active.get(id)
    return ended ?? (open && toActiveRun(open))
  })
  const hasMore = ids.length > page.length
  return {
    success: true,
    data: runs.filter((run) => run !== undefined),
    pagination: { limit: query.limit, has_more: hasMore, next_cursor: hasMore ? (page.at(-1) ?? null) : null },
  }
}

/** Ids of ended runs: one more than the page has, so that `has_more` is exact. */
async function listStored(schedule: ScreenshotSchedule, { limit: size, cursor }: RunsQuery, { objects, report }: SchedulesDeps) {
  const prefix = runsPrefix(accountOf(schedule), schedule.metadata.uid)
  const after = cursor === undefined ? {} : { after: prefix + cursor }
  return parseKeys('run', await objects.list(prefix, { ...after, limit: size + 1 }), report)
}

async function readEnded(schedule: ScreenshotSchedule, id: string, { objects: storage, report, now }: SchedulesDeps) {
  const key = runKey(accountOf(schedule), schedule.metadata.uid, id)
  const run = await readParsed('run', key, (text) => readRun(text, id, now()), { storage, report })
  return run && toEndedRun(run)
}

// Approval of a run, and its undo. The gateway requests both with an annotation, and the operator copies the picture.

const ApproveSchedule = name(
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
      assertCanUse(schedule, request.apiKey)
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
      assertCanUse(schedule, request.apiKey)
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
