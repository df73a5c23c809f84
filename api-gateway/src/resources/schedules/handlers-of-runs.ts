import { isScreenshotId, scheduleIdOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { ScreenshotSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { parseKeys } from '@tintype/crds/records/ignored-objects'
import { accountOf } from '@tintype/crds/records/record'
import { readRun, toRunSpec } from '@tintype/crds/records/run'
import { runKey, runsPrefix } from '@tintype/crds/records/storage-keys'
import { mapConcurrently } from '@tintype/crds/runtime/lists'
import { readParsed } from '@tintype/crds/storage/stored-objects'
import { unitsOf } from '@tintype/crds/usage/usage'
import { eventSubjectOf } from '@tintype/crds/webhooks/events'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { parseIdempotencyKey } from '../../creation/idempotency.ts'
import { buildScreenshot } from '../../creation/new-screenshot.ts'
import { planScreenshots } from '../../creation/plan.ts'
import { jsonBody } from '../../http/body.ts'
import { name } from '../../http/named-schemas.ts'
import type { QueryOf } from '../../http/query.ts'
import { queryParameter } from '../../http/query-parameters.ts'
import { setQueuePositionHeader, setReplayedHeader } from '../../http/response-headers.ts'
import type { Input } from '../../http/route.ts'
import { traceparentOf } from '../../plugins/tracing.ts'
import { createSingle, toCreated } from '../screenshots/create.ts'
import { POLL_SECONDS } from '../screenshots/deps.ts'
import { kindOf, pathOf } from '../screenshots/kind.ts'
import { linksFor, readRecord } from '../screenshots/links.ts'
import { limit } from '../shared/offset-page.ts'
import { type ById, findOwn } from '../shared/owned-records.ts'
import { ensureDefaultWebhook } from '../webhooks/default-webhook.ts'
import { runId, toActiveRun, toEndedRun } from './record.ts'
import type { SchedulesDeps } from './routes.ts'

// Runs of a schedule: an extra one that a client starts, and the list of all.

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
  const subject = eventSubjectOf({ spec: template })
  const execution = await deps.idempotency.begin({
    account: accountName,
    key: parseIdempotencyKey(request.headers['idempotency-key']),
    route: `POST /schedules/${scheduleIdOf(schedule.metadata)}/run`,
    body: null,
    admit: () => deps.queue.check(account, 1),
    newPlan: () => planScreenshots(deps.now(), 1, false, deps.queue.estimate(account, 1, subject)),
  })
  const { plan } = execution
  const build = async () => {
    if (template.webhookUrl !== undefined) await ensureDefaultWebhook(accountName, deps)
    const draft = { ...toRunSpec(schedule, new Date(plan.at)), reservation: plan.reservation }
    const notes = { estimatedTime: plan.estimatedTime, traceparent: traceparentOf(request) }
    return plan.ids.map((id) => buildScreenshot(id, draft, notes))
  }
  const created = await createSingle({ account, execution, units: unitsOf(template), build }, deps)
  deps.metrics.screenshotsCreated.inc()
  return sendRun(input, created, setReplayedHeader(reply, execution), deps)
}

function sendRun({ request }: Pick<Input, 'request'>, created: Screenshot, reply: FastifyReply, deps: SchedulesDeps): FastifyReply {
  const { record } = readRecord(created, linksFor(request, deps))
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
