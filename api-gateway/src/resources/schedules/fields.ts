import { scheduleFields } from '@tintype/crds/kinds/screenshot-schedule'
import { EVENT_TYPES } from '@tintype/crds/schema/event-types'
import { z } from 'zod'
import { displayName } from '../../http/fields.ts'
import { commonRecordOptions } from '../screenshots/options/options-body.ts'

// The fields of a schedule in bodies and records.

/** REST has lower-case values. */
export const ConcurrencyPolicy = z
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
