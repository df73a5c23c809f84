import { CaptureOptions } from '@tintype/crds/options/catalog'
import { isMoving } from '@tintype/crds/options/output/formats'
import { MediaFeatures } from '@tintype/crds/options/page/browser'
import type { PrivateOptions } from '@tintype/crds/options/private'
import { parseCron } from '@tintype/crds/schedule/cron'
import { nextTime } from '@tintype/crds/schedule/times'
import { type EventSubject, type EventType, eventTypesOf } from '@tintype/crds/schema/event-types'
import { toCamelCase, toSnakeCase } from '@tintype/crds/text/words'
import { z } from 'zod'
import { invalid, type Problem } from '../../common/errors.ts'
import type { RecordOptions } from '../../creation/build.ts'
import { type BodyReader, findDuplicateProblems, findEmptyProblems, MAX_MARKUP_BODY_BYTES } from '../../http/body.ts'
import { name, toPatchFields } from '../../http/fields.ts'
import type { KnownNames } from '../../http/problems.ts'
import { type ReadCapture, readCapture } from '../screenshots/create-body.ts'
import { cacheFields, captureOptionFields, findCallbackProblems, type UrlRules } from '../screenshots/options/options-body.ts'
import { documentedUrl } from '../screenshots/options/target-url.ts'
import { ComparisonBody, ComparisonChanges, findComparisonProblems, toComparisonSpec } from './comparison.ts'
import { runFields, scheduleName, timingFields } from './fields.ts'

// Bodies of the schedule routes: the fields of POST /screenshots, and when to capture.

const runOptionFields = Object.fromEntries(Object.entries(captureOptionFields).filter(([option]) => !(option in cacheFields)))
const documentedOptions = z.strictObject(runOptionFields).describe('Capture options of every run. All are optional.')
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
  ...runFields,
}

const CreateBody = z.strictObject({ ...createFields, url: address.optional(), options: parsedOptions.optional() })

export const CreateSchedule = name(
  'CreateSchedule',
  z
    .strictObject({ ...createFields, url: documentedUrl.optional(), options: documentedOptions.optional() })
    .describe('A page to capture again and again. `url` is required, unless `options` has html or markdown.'),
)

/** Null also removes an entry of a map. Maps of private options are encrypted, so they are replaced as a whole. */
const mapChanges: Record<string, z.ZodType> = {
  media_features: z
    .record(MediaFeatures.keyType, MediaFeatures.valueType.nullable())
    .meta({ ...CaptureOptions.shape.mediaFeatures.unwrap().meta() }),
}

const updateFields = {
  ...toPatchFields({ name: scheduleName }),
  schedule: schedule.optional(),
  ...toPatchFields(optionalTiming),
  comparison: ComparisonChanges.nullable().optional().describe('How runs are compared. Null: not at all.'),
  ...toPatchFields(runFields),
  capture_policy: z
    .null()
    .optional()
    .describe('Null removes the capture policy of the schedule. Only an API key without a capture policy can.'),
}
const changeOptions = (fields: Record<string, z.ZodType>) =>
  z
    .strictObject(toPatchFields({ ...fields, ...mapChanges }))
    .nullable()
    .optional()

const UpdateBody = z.strictObject({ ...updateFields, url: address.nullable().optional(), options: changeOptions(captureOptionFields) })

export const UpdateSchedule = name(
  'UpdateSchedule',
  z
    .strictObject({
      ...updateFields,
      url: documentedUrl.nullable().optional(),
      options: changeOptions(runOptionFields).describe('Capture options to change. Null removes an option, or all of them.'),
    })
    .describe('Fields of a schedule to change, at least one: a merge patch (RFC 7396). Null restores a default.')
    .meta({ minProperties: 1 }),
)

type Timing = Omit<z.infer<typeof CreateBody>, 'url' | 'options' | keyof typeof runFields>
type NewTiming = Omit<z.infer<typeof UpdateBody>, 'url' | 'options' | 'capture_policy' | keyof typeof runFields>

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

/** What a change says about the page and its options. */
export interface PageChanges {
  /** Null: the page is in the options. */
  url?: string | null | undefined
  /** URL of the option html_base_url. */
  baseUrl?: string | undefined
  set: CaptureOptions
  /** Includes credentials from the URL. */
  privateOptions: PrivateOptions
  /** Options that null removes. */
  removed: readonly string[] | 'all'
}

/** The parsed body of PATCH /schedules/{id}. */
export interface UpdateScheduleBody {
  timing: NewTiming
  /** Absent: unchanged. */
  page?: PageChanges
  record: Nullable<RecordOptions>
  /** True: `capture_policy` is null. */
  removesPolicy: boolean
}

const options = Object.keys(captureOptionFields)
const CREATED: KnownNames = { '': Object.keys(CreateBody.shape), options }
const CHANGED: KnownNames = { '': Object.keys(UpdateBody.shape), options }

function splitTiming<Body extends object>(fields: Body): Omit<Body, 'url' | 'options' | 'capture_policy' | keyof typeof runFields> {
  const others = ['url', 'options', 'capture_policy', ...Object.keys(runFields)]
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !others.includes(field))) as never
}

const WITHOUT_CACHE = 'every run captures the page'
/** Fields of POST /screenshots that schedules do not have, and why. */
const UNUSABLE = new Map([
  ...Object.keys(cacheFields).map((field) => [field, WITHOUT_CACHE] as const),
  ...['async', 'response_type'].map((field) => [field, 'no request waits for its runs'] as const),
])

const unusable = (field: string, reason: string): string => `${field} cannot be used in a schedule, because ${reason}. Leave it out.`

/** Names the reason for an unknown field, at the top level or in options. */
function explain(problem: Problem): Problem {
  const field = problem.path.split('.').at(-1) ?? ''
  const reason = problem.code === 'unknown_field' ? UNUSABLE.get(field) : undefined
  return reason === undefined ? problem : { ...problem, message: unusable(field, reason) }
}

const findCacheProblems = (cache: object): Problem[] =>
  Object.keys(cache)
    .map(toSnakeCase)
    .map((option) => ({ path: `options.${option}`, code: 'not_allowed', message: unusable(option, WITHOUT_CACHE) }))

/** Both endpoints accept screenshots and videos, which have different events. */
export function findEventProblems(events: readonly EventType[] | null | undefined, format: CaptureOptions['format']): Problem[] {
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

export const createScheduleBody: BodyReader<CreateScheduleBody, Rules> = {
  schema: CreateSchedule,
  maxBytes: MAX_MARKUP_BODY_BYTES,
  examples,
  read: (raw, { isLenient, deps }) => {
    const read = readCapture(raw, { schema: CreateBody, known: CREATED, accepted: 'any' }, { rules: deps.egress, lenient: isLenient })
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
  return [...problems.map(explain), ...findCacheProblems(cache), ...(fields ? findDateProblems(fields, now()) : [])]
}

/** Body of PATCH /schedules/{id}. What depends on the stored schedule is checked by `mergeSchedule`. */
export const updateScheduleBody: BodyReader<UpdateScheduleBody, Rules> = {
  schema: UpdateSchedule,
  maxBytes: MAX_MARKUP_BODY_BYTES,
  examples: {
    suspend: { summary: 'Stop creating runs', value: { suspend: true } },
    options: {
      summary: 'Change the time, set an option and remove one',
      value: { schedule: '0 */6 * * *', options: { full_page: true, delay: null } },
    },
  },
  read: (raw, { isLenient, deps }) => {
    const schema = { schema: UpdateBody, known: CHANGED, accepted: 'any', isPartial: true } as const
    const read = readCapture(raw, schema, { rules: deps.egress, lenient: isLenient })
    const { fields, ignored } = read
    const record = read.record as Nullable<RecordOptions>
    const problems = [
      ...findCommonProblems(read, deps),
      ...(record.webhookUrl ? findCallbackProblems({ webhookUrl: record.webhookUrl }, deps.webhookRules) : []),
      ...findDuplicateProblems('webhook_events', record.webhookEvents ?? undefined),
    ]
    if (problems.length === 0) problems.push(...findEmptyProblems(UpdateSchedule, fields))
    if (problems.length > 0 || !fields) throw invalid(problems)
    const page = fields.url === undefined && fields.options === undefined ? {} : { page: toPageChanges(fields, read) }
    return { body: { timing: splitTiming(fields), record, removesPolicy: fields.capture_policy === null, ...page }, ignored }
  },
}

function toPageChanges({ url, options }: Pick<z.infer<typeof UpdateBody>, 'url' | 'options'>, read: ReadCapture<unknown>): PageChanges {
  const removed =
    options &&
    Object.keys(options)
      .filter((option) => options[option] === null)
      .map(toCamelCase)
  return {
    ...(typeof url === 'string' ? { url: read.url } : { url, baseUrl: read.url || undefined }),
    set: read.options,
    privateOptions: read.privateOptions,
    removed: options === null ? 'all' : (removed ?? []),
  }
}
