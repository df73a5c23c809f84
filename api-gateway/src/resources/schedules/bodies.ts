import type { CaptureOptions } from '@tintype/crds/options/catalog'
import { isMoving } from '@tintype/crds/options/output/image'
import type { PrivateOptions } from '@tintype/crds/options/private'
import { parseCron } from '@tintype/crds/schedule/cron'
import { nextTime } from '@tintype/crds/schedule/times'
import { type EventSubject, type EventType, eventTypesOf } from '@tintype/crds/schema/event-types'
import { toSnakeCase } from '@tintype/crds/text/snake-case'
import { z } from 'zod'
import { invalid, type Problem } from '../../common/errors.ts'
import type { RecordOptions } from '../../creation/build.ts'
import { type BodyReader, MAX_MARKUP_BODY_BYTES } from '../../http/body.ts'
import { name } from '../../http/named-schemas.ts'
import type { KnownNames } from '../../http/problems.ts'
import { findDuplicateProblems, findEmptyUpdateProblems } from '../../http/read-body.ts'
import { type ReadCapture, readCapture } from '../screenshots/create-body.ts'
import { cacheFields, captureOptionFields, findCallbackProblems, type UrlRules } from '../screenshots/options/options-body.ts'
import { documentedUrl } from '../screenshots/options/target-url.ts'
import { ComparisonBody, findComparisonProblems, toComparisonSpec } from './comparison.ts'
import { runFields, scheduleName, timingFields } from './fields.ts'

// Bodies of the schedule routes: the fields of POST /screenshots, and when to capture.

const documentedOptions = z
  .strictObject(Object.fromEntries(Object.entries(captureOptionFields).filter(([option]) => !(option in cacheFields))))
  .describe('Capture options of every run. All are optional.')
// URLs and options of the cache are checked separately, so that each gets one clear error message.
const parsedOptions = z.strictObject(captureOptionFields)
const address = z.string()

const partial = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape).partial().shape
const { schedule, ...optionalTiming } = timingFields

const createFields = {
  name: scheduleName.optional(),
  schedule,
  ...partial(optionalTiming),
  comparison: ComparisonBody.optional(),
  ...partial(runFields),
}

const CreateBody = z.strictObject({ ...createFields, url: address.optional(), options: parsedOptions.optional() })

export const CreateSchedule = name(
  'CreateSchedule',
  z
    .strictObject({ ...createFields, url: documentedUrl.optional(), options: documentedOptions.optional() })
    .describe('A page to capture again and again. `url` is required, unless `options` has html or markdown.'),
)

/** Null restores the default. */
const nullable = <Shape extends Record<string, z.ZodType>>(shape: Shape) =>
  Object.fromEntries(Object.entries(shape).map(([field, schema]) => [field, schema.nullable().optional()])) as {
    [Field in keyof Shape]: z.ZodOptional<z.ZodNullable<Shape[Field]>>
  }

const updateFields = {
  ...nullable({ name: scheduleName }),
  schedule: schedule.optional(),
  ...nullable(optionalTiming),
  comparison: ComparisonBody.nullable().optional().describe('How runs are compared. Null: not at all.'),
  ...nullable(runFields),
}

const UpdateBody = z.strictObject({ ...updateFields, url: address.optional(), options: parsedOptions.optional() })

export const UpdateSchedule = name(
  'UpdateSchedule',
  z
    .strictObject({ ...updateFields, url: documentedUrl.optional(), options: documentedOptions.optional() })
    .describe('Fields of a schedule to change, at least one. Null restores a default. `options` replaces all options.')
    .meta({ minProperties: 1 }),
)

type Timing = Omit<z.infer<typeof CreateBody>, 'url' | 'options' | keyof typeof runFields>
type NewTiming = Omit<z.infer<typeof UpdateBody>, 'url' | 'options' | keyof typeof runFields>

/** The parsed body of POST /schedules. */
export interface CreateScheduleBody {
  timing: Timing
  url: string
  options: CaptureOptions
  /** Includes credentials from the URL. */
  privateOptions: PrivateOptions
  record: RecordOptions
}

/** Null removes a field. */
type Nullable<Fields> = { [Field in keyof Fields]: Fields[Field] | null }

/** The parsed body of PATCH /schedules/{id}. */
export interface UpdateScheduleBody {
  timing: NewTiming
  /** Absent: unchanged. */
  url?: string
  /** All options that a run has from now on. Absent: unchanged. */
  replaced?: { options: CaptureOptions; privateOptions: PrivateOptions }
  record: Nullable<RecordOptions>
}

const names = Object.keys(CreateBody.shape)
const KNOWN: KnownNames = { '': names, options: Object.keys(captureOptionFields) }

function splitTiming<Body extends object>(fields: Body): Omit<Body, 'url' | 'options' | keyof typeof runFields> {
  const others = ['url', 'options', ...Object.keys(runFields)]
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !others.includes(field))) as never
}

const findCacheProblems = (cache: object): Problem[] =>
  Object.keys(cache).map((option) => ({
    path: `options.${toSnakeCase(option)}`,
    code: 'not_allowed',
    message: `${toSnakeCase(option)} cannot be used in a schedule, because every run captures the page. Leave it out.`,
  }))

/** Both endpoints accept screenshots and videos, which have different events. */
function findEventProblems(events: readonly EventType[] | null | undefined, format: CaptureOptions['format']): Problem[] {
  const subject: EventSubject = isMoving(format ?? 'png') ? 'video' : 'screenshot'
  return (events ?? []).flatMap((type, index): Problem[] => {
    const path = `webhook_events[${index}]`
    const message = `${path}: a ${subject} has no event ${type}. Use ${eventTypesOf(subject).join(', ')}.`
    return eventTypesOf(subject).includes(type) ? [] : [{ path, code: 'invalid_value', message }]
  })
}

/** An expression such as `0 0 31 2 *` is valid and matches no date. */
function findDateProblems({ schedule: text, time_zone: timeZone }: Partial<NewTiming>, now: Date): Problem[] {
  if (text === undefined) return []
  const at = now.getTime()
  if (nextTime({ cron: parseCron(text), timeZone: timeZone ?? 'UTC', anchor: at }, at) !== undefined) return []
  return [{ path: 'schedule', code: 'invalid_value', message: 'schedule: no date in the next nine years matches the expression' }]
}

interface Rules extends UrlRules {
  now: () => Date
}

const examples = {
  hourly: { summary: 'Every hour', value: { schedule: '@hourly', url: 'https://example.com/' } },
  workdays: {
    summary: 'At nine on workdays in Zurich, the whole page',
    value: {
      name: 'home page',
      schedule: '0 9 * * MON-FRI',
      time_zone: 'Europe/Zurich',
      starting_deadline_seconds: 3600,
      url: 'https://example.com/',
      options: { full_page: true, format: 'webp' },
      external_identifier: 'home',
    },
  },
  compared: {
    summary: 'Report changes against an approved picture',
    value: {
      schedule: '*/30 * * * *',
      url: 'https://example.com/',
      comparison: { baseline: 'approved', threshold: 0.001, ignore: [{ selector: '#clock' }, { x: 0, y: 0, width: 320, height: 60 }] },
    },
  },
}

/** Body of POST /schedules. */
export const createScheduleBody: BodyReader<CreateScheduleBody, Rules> = {
  schema: CreateSchedule,
  maxBytes: MAX_MARKUP_BODY_BYTES,
  examples,
  read: (raw, { isLenient, deps }) => {
    const read = readCapture(raw, { schema: CreateBody, known: KNOWN, accepted: 'any' }, { rules: deps.egress, lenient: isLenient })
    const { fields, url, options, privateOptions, record, ignored } = read
    const problems = [
      ...findCommonProblems(read, deps),
      ...findCallbackProblems(record, deps.webhookRules),
      ...findEventProblems(record.webhookEvents, options.format),
      ...findComparisonProblems(fields?.comparison && toComparisonSpec(fields.comparison), options),
    ]
    if (problems.length > 0 || !fields) throw invalid(problems)
    return { body: { timing: splitTiming(fields), url, options, privateOptions, record }, ignored }
  },
}

function findCommonProblems({ problems, fields, cache }: ReadCapture<z.infer<typeof UpdateBody>>, { now }: Rules): Problem[] {
  return [...problems, ...findCacheProblems(cache), ...(fields ? findDateProblems(fields, now()) : [])]
}

/** Body of PATCH /schedules/{id}. */
export const updateScheduleBody: BodyReader<UpdateScheduleBody, Rules> = {
  schema: UpdateSchedule,
  maxBytes: MAX_MARKUP_BODY_BYTES,
  examples: {
    suspend: { summary: 'Stop creating runs', value: { suspend: true } },
    options: { summary: 'Replace the time and all options', value: { schedule: '0 */6 * * *', options: { full_page: true } } },
  },
  read: (raw, { isLenient, deps }) => {
    const schema = { schema: UpdateBody, known: KNOWN, accepted: 'any', isPartial: true } as const
    const read = readCapture(raw, schema, { rules: deps.egress, lenient: isLenient })
    const { fields, url, options, privateOptions, ignored } = read
    const record = read.record as Nullable<RecordOptions>
    const problems = [
      ...findCommonProblems(read, deps),
      ...(fields ? findEmptyUpdateProblems(fields) : []),
      ...(fields?.options === undefined ? [] : findEventProblems(record.webhookEvents, options.format)),
      // The schedule may have a webhook_url already.
      ...(record.webhookUrl ? findCallbackProblems({ webhookUrl: record.webhookUrl }, deps.webhookRules) : []),
      ...findDuplicateProblems('webhook_events', record.webhookEvents ?? undefined),
      ...findUrlProblems(read),
    ]
    if (problems.length > 0 || !fields) throw invalid(problems)
    const isReplaced = fields.options !== undefined
    return {
      body: {
        timing: splitTiming(fields),
        record,
        ...(url === '' ? {} : { url }),
        ...(isReplaced ? { replaced: { options, privateOptions } } : {}),
      },
      ignored,
    }
  },
}

/** User name and password of a URL are private options, which are stored as a whole. */
function findUrlProblems({ fields, privateOptions }: ReadCapture<z.infer<typeof UpdateBody>>): Problem[] {
  if (fields?.url === undefined || fields.options !== undefined || Object.keys(privateOptions).length === 0) return []
  const message = 'user name and password in the url replace the private options: send all options too'
  return [{ path: 'url', code: 'contradiction', message }]
}
