import { toObjectName } from '@tintype/crds/identifiers/names'
import type { ScreenshotSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { scheduleOptionsKey } from '@tintype/crds/records/storage-keys'
import { limitsOfPlan } from '@tintype/crds/usage/plans'
import type { FastifyRequest } from 'fastify'
import { pathId } from '../../http/parameters.ts'
import { linkTo, type Route, routeFor } from '../../http/route.ts'
import { emptyOptions, type StoredOptions, storeOptions } from '../../options/store-options.ts'
import { assertCaptureWithin, captureLimitsOf } from '../keys/capture-limits.ts'
import { checkBaseline } from '../screenshots/check-baseline.ts'
import { assertOptionsAllowed, assertRetentionAllowed } from '../screenshots/options/options-body.ts'
import { assertBelowLimit, type OwnedKind, ownedRoutes } from '../shared/owned-records.ts'
import { ensureDefaultWebhook } from '../webhooks/webhook-object.ts'
import { type CreateScheduleBody, createScheduleBody, type UpdateScheduleBody, updateScheduleBody } from './bodies.ts'
import { assertRunWithin, policyAfterChange, toSchedulePolicy } from './capture-policy.ts'
import { CreatedRun, ScheduleRecord, ScheduleRunList, toScheduleRecord } from './fields.ts'
import {
  ApprovalUndone,
  approveBody,
  approveRun,
  listRuns,
  RunApproved,
  runBody,
  runSchedule,
  runsQuery,
  type SchedulesDeps,
  undoApproval,
} from './handlers-of-runs.ts'
import { buildSchedule, keepHidden, type MergedPage, mergeSchedule, toPoliced, toSchedulePatch } from './schedule-object.ts'

const scheduleId = 'sch_01kajq2v0vtz8m3c5x7r9w4n6p'
const createdAt = '2026-11-21T10:00:00.000Z'
const run = {
  id: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x6z',
  scheduled_at: '2026-11-23T08:00:00.000Z',
  status: 'completed',
  completed_at: '2026-11-23T08:00:04.310Z',
  error_code: null,
  changed: false,
  changed_ratio: 0,
  unfit: null,
}

export const scheduleExample = {
  id: scheduleId,
  name: 'home page',
  schedule: '0 9 * * MON-FRI',
  time_zone: 'Europe/Zurich',
  suspend: false,
  concurrency_policy: 'forbid',
  starting_deadline_seconds: 3600,
  spread_seconds: 0,
  comparison: {
    baseline: 'approved',
    threshold: null,
    color_tolerance: 0.1,
    antialiasing: false,
    ignore: [{ selector: '#clock' }],
    accept_status: [],
    approve_first: false,
    baseline_run: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x70',
    waiting_run: null,
    fit: true,
    approvals: [
      {
        run_id: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x70',
        approved_at: '2026-11-22T09:12:00.000Z',
        approved_by: 'key_01kajq2v0vtz8m3c5x7r9w4n6p',
        replaced_run: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x71',
        can_undo: true,
        undone_at: null,
        undone_by: null,
      },
    ],
    last: {
      id: run.id,
      scheduled_at: run.scheduled_at,
      to: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x70',
      changed: false,
      changed_ratio: 0,
      changed_pixels: 0,
      size_changed: false,
      text_changed: false,
      words_added: [],
      words_removed: [],
    },
  },
  url: 'https://example.com/',
  options: { full_page: true, format: 'webp' },
  external_identifier: 'home',
  attachment_name: null,
  download_url_ttl: null,
  retention_days: null,
  webhook_url: null,
  webhook_events: null,
  capture_policy: null,
  status: 'active',
  problem: null,
  next_run_at: '2026-11-24T08:00:00.000Z',
  last_run_at: '2026-11-23T08:00:00.000Z',
  last_success_at: '2026-11-23T08:00:00.000Z',
  last_change: { id: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x70', scheduled_at: '2026-11-22T08:00:00.000Z', changed_ratio: 0.0123 },
  active_runs: [],
  recent_runs: [run],
  created_at: createdAt,
  updated_at: createdAt,
}

const runCreated = {
  id: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x6y',
  url: 'https://example.com/',
  status: 'pending',
  options: { format: 'webp', viewport_width: 1280, viewport_height: 720, full_page: true },
  created_at: '2026-11-23T10:20:30.456Z',
  estimated_time: '10-60s',
}
const runList = { success: true, data: [run], pagination: { limit: 100, has_more: false, next_cursor: null } }

const runApproved = { message: 'Run approved. Later runs are compared with its picture.', data: { run_id: run.id } }

const approvalUndone = {
  message: 'Approval undone. Later runs are compared with the picture from before.',
  data: { run_id: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x70', baseline_run: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x71' },
}

const optionErrors = [
  'URL_NOT_ALLOWED',
  'OPTION_NOT_ALLOWED',
  'POLICY_TOO_NARROW',
  'NOT_FOUND',
  'NOT_READY',
  'NOT_COMPARABLE',
  'EXPIRED',
  'CONFLICT',
] as const

const kind: OwnedKind<ScreenshotSchedule, SchedulesDeps, CreateScheduleBody, UpdateScheduleBody> = {
  word: 'schedule',
  what: 'schedule',
  noun: 'a schedule',
  prefix: 'sch',
  storeOf: ({ schedules }) => schedules,
  toRecord: toScheduleRecord,
  create: ({ request, body }, deps) => {
    const compared = body.timing.comparison ? { compareTo: '' } : {}
    assertCaptureWithin({ ...body, options: { ...body.options, ...compared }, targets: [body] }, captureLimitsOf(request.apiKey))
    return (id) => makeSchedule(id, body, request, deps)
  },
  update: async ({ request, body }, deps) => {
    const { set: options = {}, privateOptions = {} } = body.page ?? {}
    await assertAllowed(request, { options, privateOptions, record: body.record as CreateScheduleBody['record'] }, deps)
    return async (schedule) => {
      const policy = policyAfterChange(schedule, request.apiKey, body.removesPolicy)
      const merged = mergeSchedule(body, schedule)
      const policed = toPoliced(body, schedule, { page: merged, policy })
      if (policed) assertRunWithin(policed, undefined)
      if (options.compareTo !== undefined) await checkBaseline(request.accountName, merged?.options, deps)
      const page = merged && { url: merged.url, stored: await storePage(merged, schedule, request.accountName, deps) }
      return deps.schedules.patch(schedule, toSchedulePatch(body, schedule, { page, policy, now: deps.now() }))
    }
  },
  bodies: { create: createScheduleBody, update: updateScheduleBody },
  schemas: { record: ScheduleRecord },
  examples: {
    record: scheduleExample,
    created: {
      comparison: { ...scheduleExample.comparison, baseline_run: null, waiting_run: null, fit: null, approvals: [], last: null },
      last_run_at: null,
      last_success_at: null,
      last_change: null,
      recent_runs: [],
    },
    updated: { suspend: true, status: 'suspended', next_run_at: null },
  },
  descriptions: {
    create:
      'Captures a page at the times of a cron expression. Each run is a screenshot or, with a moving format, a video, and is charged as one.',
    update:
      'A merge patch (RFC 7396): absent fields and options stay unchanged, and null restores a default. A change of hidden options, which the record shows as `***` or `…`, must name all of them, and so must a new `url` beside private options.',
    remove: 'Creates no more runs. The screenshots of its runs stay.',
    found: 'The schedule and its last runs.',
    response: 'A schedule.',
    read: 'Reads the schedule and its last runs.',
  },
  links: {
    run: linkTo('runSchedule', 'Creates a run now.'),
    runs: linkTo('listScheduleRuns', 'Lists its runs.'),
    approve: linkTo('approveRun', 'Approves its last compared run.'),
  },
  errors: { create: optionErrors, update: optionErrors, remove: [] },
}

const route = routeFor<SchedulesDeps>('Schedules', pathId('sch', scheduleId))
const { collection, one } = ownedRoutes(route, kind)

export const scheduleRoutes: readonly Route<SchedulesDeps>[] = [
  ...collection,
  ...one,
  route('POST /schedules/{id}/run', {
    id: 'runSchedule',
    scope: 'schedules:write',
    summary: 'Create a run now',
    description:
      'Captures the page now, also if the schedule is suspended or another run has not ended. Counts for quota and rate like `POST /screenshots`. The times of other runs do not change.',
    isKeyed: true,
    body: runBody,
    responses: {
      202: { description: 'Accepted.', schema: CreatedRun, example: runCreated, headers: ['Location', 'Retry-After', 'X-Queue-Position'] },
    },
    errors: ['CONFLICT', 'USAGE_LIMIT_REACHED', 'QUEUE_FULL', 'URL_NOT_ALLOWED', 'OPTION_NOT_ALLOWED', 'POLICY_TOO_NARROW'],
    handle: runSchedule,
  }),
  route('GET /schedules/{id}/runs', {
    id: 'listScheduleRuns',
    scope: 'schedules:read',
    summary: 'List the runs of a schedule',
    description: 'Lists the newest first. Ended runs are kept as long as records.',
    query: runsQuery,
    responses: { 200: { description: 'One page of runs.', schema: ScheduleRunList, example: runList } },
    handle: listRuns,
  }),
  route('POST /schedules/{id}/approve', {
    id: 'approveRun',
    scope: 'schedules:write',
    summary: 'Approve a run',
    description:
      'For schedules with `comparison.baseline: approved`. Later runs are compared with the picture of this run, as soon as the operator has copied it. A second approval of the same run changes nothing, and an older run can be approved while its files are kept. `POST /schedules/{id}/undo-approval` takes the last approval back.',
    body: approveBody,
    responses: { 202: { description: 'Accepted.', schema: RunApproved, example: runApproved } },
    errors: ['NOT_READY', 'NOT_COMPARABLE', 'EXPIRED', 'CONFLICT', 'POLICY_TOO_NARROW'],
    handle: approveRun,
  }),
  route('POST /schedules/{id}/undo-approval', {
    id: 'undoApproval',
    scope: 'schedules:write',
    summary: 'Undo the last approval',
    description:
      'Later runs are compared with the picture that the last approval replaced, as soon as the operator has restored it. That picture is kept for 30 days. Call it again to undo the approval before.',
    responses: { 202: { description: 'Accepted.', schema: ApprovalUndone, example: approvalUndone } },
    errors: ['EXPIRED', 'CONFLICT', 'POLICY_TOO_NARROW'],
    handle: undoApproval,
  }),
]

type Wanted = Pick<CreateScheduleBody, 'url' | 'options' | 'privateOptions'>

/** Stores options that are private or large encrypted. They open only for this schedule, and private ones only for its URL. */
const storeFor = (name: string, account: string, { url, options, privateOptions }: Wanted, deps: SchedulesDeps): Promise<StoredOptions> =>
  storeOptions({ url, options, privateOptions, account, subject: name, keyOf: scheduleOptionsKey }, deps)

/** Checks what depends on the service and the account. @throws ApiError */
async function assertAllowed(
  { account, accountName }: FastifyRequest,
  { options, privateOptions, record }: Pick<CreateScheduleBody, 'options' | 'privateOptions' | 'record'>,
  deps: SchedulesDeps,
): Promise<void> {
  assertOptionsAllowed({ options, privateOptions }, deps.optionPolicy)
  assertRetentionAllowed({ record }, limitsOfPlan(deps.plans, account.spec.plan).retentionDays)
  if (record.webhookUrl) await ensureDefaultWebhook(accountName, deps)
}

async function makeSchedule(id: string, body: CreateScheduleBody, request: FastifyRequest, deps: SchedulesDeps) {
  const { accountName, apiKey } = request
  assertBelowLimit(deps.schedules.ofAccount(accountName).length, deps.maxSchedules, 'schedules')
  await assertAllowed(request, body, deps)
  await checkBaseline(accountName, body.options, deps)
  const stored = await storeFor(toObjectName(id), accountName, body, deps)
  const created = await deps.schedules.create(buildSchedule(body, { id, accountName, stored, capturePolicy: toSchedulePolicy(apiKey) }))
  return { created, secret: {} }
}

/** Stores the options after a change. An object in the bucket stays until the schedule is deleted, so that the operator finds it then. */
async function storePage(
  { url, options, privateOptions }: MergedPage,
  { metadata: { name }, spec: { template } }: ScreenshotSchedule,
  account: string,
  deps: SchedulesDeps,
): Promise<StoredOptions> {
  if (privateOptions === undefined) return keepHidden(template, options)
  const stored = await storeFor(name, account, { url, options, privateOptions }, deps)
  if (template.optionsObject === undefined || stored.optionsObject !== undefined) return stored
  return { ...stored, optionsObject: await emptyOptions({ account, subject: name, keyOf: scheduleOptionsKey }, deps) }
}
