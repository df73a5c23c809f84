import { createdAtOf, scheduleIdOf } from '@tintype/crds/identifiers/ids'
import { Annotation } from '@tintype/crds/identifiers/names'
import { UNFIT_MEANING, UnfitReason } from '@tintype/crds/kinds/comparison'
import {
  type ActiveRun,
  type LastChange,
  type RecentRun,
  type ScheduleTemplate,
  type ScreenshotSchedule,
  scheduleFields,
} from '@tintype/crds/kinds/screenshot-schedule'
import { RECORD_OPTIONS, type RecordOptionName } from '@tintype/crds/options/output/delivery'
import { privateOptionNames } from '@tintype/crds/options/private'
import { ConditionType, findCondition } from '@tintype/crds/schema/conditions'
import { EVENT_TYPES } from '@tintype/crds/schema/event-types'
import { anId, instant } from '@tintype/crds/schema/fields'
import { CUT, MASK } from '@tintype/crds/text/cut-text'
import { renameKeys, toSnakeCase } from '@tintype/crds/text/words'
import { z } from 'zod'
import { cursorPagination, displayName, iso, isoOrNull, listBody, name } from '../../http/fields.ts'
import { CapturePolicyRecord, capturePolicies } from '../keys/policy-fields.ts'
import { commonRecordOptions } from '../screenshots/options/options-body.ts'
import { createdFields } from '../screenshots/schemas.ts'
import { ComparisonRecord, toComparisonRecord } from './comparison.ts'

// The fields of a schedule in bodies and records.

/** REST has lower-case values. */
const ConcurrencyPolicy = z
  .enum(['forbid', 'allow'])
  .describe('forbid: a run waits until the previous one has ended. allow: runs may overlap. Default: forbid.')

/** Fields that say when to capture. */
export const timingFields = {
  schedule: scheduleFields.schedule,
  time_zone: scheduleFields.timeZone,
  suspend: scheduleFields.suspend,
  concurrency_policy: ConcurrencyPolicy,
  starting_deadline_seconds: scheduleFields.startingDeadlineSeconds,
  spread_seconds: scheduleFields.spreadSeconds,
}

/** Fields of the record that each run gets. */
export const runFields = {
  ...commonRecordOptions,
  webhook_events: z
    .array(z.enum(EVENT_TYPES))
    .min(1)
    .max(EVENT_TYPES.length)
    .meta({ uniqueItems: true })
    .describe('Events that are posted to webhook_url. Default: completed and failed.')
    .optional(),
}

export const scheduleName = displayName('Name for people, at most 100 characters. Default: the name of the object.')

/** Id of a run. */
export const runId = anId('scr', 'Id of the screenshot or video.')

/** A run of a schedule: a screenshot or a video. */
export const ScheduleRun = name(
  'ScheduleRun',
  z
    .object({
      id: runId,
      scheduled_at: instant('Time at which the run was due.'),
      status: z.enum(['pending', 'completed', 'failed', 'deleted']).describe('`deleted`: it was deleted before its end was recorded.'),
      completed_at: instant('Time at which the capture ended.').nullable(),
      error_code: z.string().nullable().describe('Error code of a failed capture.'),
      changed: z
        .boolean()
        .nullable()
        .describe('Whether the picture differs from the one that it was compared with. Null if it was not compared.'),
      changed_ratio: z.number().min(0).max(1).nullable().describe('Changed pixels as a share of all pixels, 0 to 1.'),
      unfit: UnfitReason.nullable().describe(`Why the picture was not compared. ${UNFIT_MEANING}`),
    })
    .describe('A run of a schedule.'),
)
export type ScheduleRun = z.infer<typeof ScheduleRun>

export const ScheduleRecord = name(
  'Schedule',
  z.object({
    id: anId('sch', 'Id of the schedule.'),
    name: z.string(),
    schedule: z.string().describe('Cron expression, macro, or @every and a duration.'),
    time_zone: z.string(),
    suspend: z.boolean().describe('True: no runs are created.'),
    concurrency_policy: ConcurrencyPolicy,
    starting_deadline_seconds: z.int().nullable().describe('Seconds within which a missed run may still start. Null: no limit.'),
    spread_seconds: z.int(),
    comparison: ComparisonRecord.nullable().describe('How runs are compared. Null: not at all.'),
    url: z.string(),
    options: z
      .record(z.string(), z.unknown())
      .describe('Options of each run, without defaults. Secrets are shown as ***, and very large options as ….'),
    external_identifier: z.string().nullable(),
    attachment_name: z.string().nullable(),
    download_url_ttl: z.int().nullable(),
    retention_days: z.int().nullable(),
    webhook_url: z.string().nullable(),
    webhook_events: runFields.webhook_events.unwrap().nullable(),
    capture_policy: name(
      'SchedulePolicy',
      CapturePolicyRecord.extend({
        key_id: z.string().describe('Id of the API key. Runs also obey the policy that it has then.'),
      }).describe('Limits of the runs.'),
    )
      .nullable()
      .describe('Capture policy of the API key that created or last changed the schedule. Null: no limits.'),
    status: z.enum(['active', 'suspended', 'blocked']).describe('`blocked`: no runs can be created; `problem` says why.'),
    problem: z
      .object({
        code: z.string().describe('For programs, such as QUOTA_EXCEEDED.'),
        message: z.string().describe('For people.'),
      })
      .nullable(),
    next_run_at: instant('Time at which the next run is due, before the delay of spread_seconds. Null if there is none.').nullable(),
    last_run_at: instant('Time at which the last run was due, or was requested.').nullable(),
    last_success_at: instant('Time at which the last successful run was due.').nullable(),
    last_change: z
      .object({
        id: runId,
        scheduled_at: instant('Time at which the run was due.'),
        changed_ratio: z.number().min(0).max(1).nullable().describe('Changed pixels as a share of all pixels, 0 to 1.'),
      })
      .nullable()
      .describe('The last run whose picture differed. Null if none has, or if runs are not compared.'),
    active_runs: z.array(ScheduleRun).describe('Runs that have not ended.'),
    recent_runs: z.array(ScheduleRun).describe('The last twenty ended runs, the newest first.'),
    created_at: instant('Time of the creation.'),
    updated_at: instant('Time of the last change in the REST API.'),
  }),
)
export type ScheduleRecord = z.infer<typeof ScheduleRecord>

export const ScheduleRunList = listBody('ScheduleRunList', ScheduleRun, cursorPagination(runId), 'One page of runs, the newest first.')

/** The response to a run that a client starts. */
export const CreatedRun = name('CreatedRun', z.object(createdFields).describe('An accepted run: a screenshot or a video.'))

/** A run that has not ended. */
export const toActiveRun = ({ id, time }: ActiveRun): ScheduleRun => ({
  id,
  scheduled_at: iso(time),
  status: 'pending',
  completed_at: null,
  error_code: null,
  changed: null,
  changed_ratio: null,
  unfit: null,
})

/** A run that has ended. */
export const toEndedRun = ({ id, time, outcome, completionTime, code, changed, changedRatio, unfit }: RecentRun): ScheduleRun => ({
  id,
  scheduled_at: iso(time),
  status: outcome,
  completed_at: isoOrNull(completionTime),
  error_code: code ?? null,
  changed: changed ?? null,
  changed_ratio: changedRatio ?? null,
  unfit: unfit ?? null,
})

const toLastChange = ({ id, time, changedRatio }: LastChange) => ({ id, scheduled_at: iso(time), changed_ratio: changedRatio ?? null })

/** The options as they were sent, so that clients can change and send them again. */
function toOptions({ options = {}, hiddenOptions = [] }: ScheduleTemplate, leftOut: Readonly<Record<string, string>> = {}) {
  const hidden = [...hiddenOptions, ...Object.keys(leftOut)].map((option) => [option, privateOptionNames.includes(option) ? MASK : CUT])
  return renameKeys({ ...options, ...Object.fromEntries(hidden) }, toSnakeCase)
}

const toRecordOptions = (template: ScheduleTemplate) =>
  Object.fromEntries(Object.entries(RECORD_OPTIONS).map(([option, field]) => [option, template[field] ?? null])) as Pick<
    ScheduleRecord,
    RecordOptionName
  >

function toPolicyRecord(policy: ScheduleTemplate['capturePolicy']): ScheduleRecord['capture_policy'] {
  if (!policy) return null
  const { keyId, ...limits } = policy
  return { key_id: keyId, ...capturePolicies.toWhole(capturePolicies.toRecord(limits) ?? {}) } as ScheduleRecord['capture_policy']
}

/** `QuotaExceeded` → `QUOTA_EXCEEDED`. */
const toCode = (reason: string): string => toSnakeCase(reason).replace(/^_/, '').toUpperCase()

function toState({ spec, status }: ScreenshotSchedule): Pick<ScheduleRecord, 'status' | 'problem'> {
  const ready = findCondition(status?.conditions, ConditionType.ready)
  if (spec.suspend) return { status: 'suspended', problem: null }
  if (ready?.status !== 'False') return { status: 'active', problem: null }
  return { status: 'blocked', problem: { code: toCode(ready.reason), message: ready.message } }
}

export function toScheduleRecord(schedule: ScreenshotSchedule): ScheduleRecord {
  const { metadata, spec, status = {} } = schedule
  const { template } = spec
  const createdAt = createdAtOf(scheduleIdOf(metadata)).toISOString()
  return {
    id: scheduleIdOf(metadata),
    name: spec.name ?? metadata.name,
    schedule: spec.schedule,
    time_zone: spec.timeZone ?? 'UTC',
    suspend: spec.suspend ?? false,
    concurrency_policy: spec.concurrencyPolicy === 'Allow' ? 'allow' : 'forbid',
    starting_deadline_seconds: spec.startingDeadlineSeconds ?? null,
    spread_seconds: spec.spreadSeconds ?? 0,
    comparison: toComparisonRecord(spec.comparison, status),
    url: template.url,
    options: toOptions(template, metadata.leftOut),
    ...toRecordOptions(template),
    capture_policy: toPolicyRecord(template.capturePolicy),
    ...toState(schedule),
    next_run_at: spec.suspend ? null : isoOrNull(status.nextScheduleTime),
    last_run_at: isoOrNull(status.lastRunTime ?? status.lastScheduleTime),
    last_success_at: isoOrNull(status.lastSuccessfulTime),
    last_change: status.lastChange ? toLastChange(status.lastChange) : null,
    active_runs: (status.active ?? []).map(toActiveRun),
    recent_runs: (status.recentRuns ?? []).map(toEndedRun),
    created_at: createdAt,
    updated_at: metadata.annotations?.[Annotation.updatedAt] ?? createdAt,
  }
}
