import { z } from 'zod'
import { isScreenshotId } from '../identifiers/ids.ts'
import type { CaptureOptions } from '../options/catalog.ts'
import { other, set } from '../options/conditions.ts'
import { comparisonGroup } from '../options/output/comparison.ts'
import { ImageFormat } from '../options/output/formats.ts'
import { CronError, MAX_CRON_LENGTH, parseCron } from '../schedule/cron.ts'
import { cronRules, timeZoneRules } from '../schedule/cron-rule.ts'
import { describeTimeZone, isTimeZone } from '../schedule/times.ts'
import { Conditions } from '../schema/conditions.ts'
import { type CelRule, type Definition, displayName, instant, Metadata, objectName } from '../schema/custom-resource.ts'
import { MAX_SHORT_URL } from '../schema/fields.ts'
import { CapturePolicySpec, ScreenshotPolicy } from './capture-policy.ts'
import { Comparison, MovingParts, UNFIT_MEANING, UnfitReason } from './comparison.ts'
import { KeptBaseline, ScreenshotSpec } from './screenshot.ts'

// How a schedule compares its runs.

/** The fields of `spec.comparison`. REST has the same in snake case. */
export const comparisonFields = {
  baseline: z
    .enum(['Previous', 'Approved'])
    .describe(
      'Picture that a run is compared with. Previous: that of the run before. Approved: the one that was approved last. Default: Previous.',
    ),
  threshold: comparisonGroup.options.compareThreshold,
  colorTolerance: comparisonGroup.options.compareColorTolerance,
  antialiasing: comparisonGroup.options.compareAntialiasing,
  ignore: comparisonGroup.options.compareIgnore,
  acceptStatus: comparisonGroup.options.compareAcceptStatus,
  approveFirst: z
    .boolean()
    .describe('With the baseline Approved: approves the first run that shows the page. If false, it waits for a person. Default: false.'),
} as const

export const ScheduleComparison = z.object(comparisonFields).partial()
export type ScheduleComparison = z.infer<typeof ScheduleComparison>

/** Options that the runs of a schedule with a comparison get from it. */
const OWN_OPTIONS = Object.keys(comparisonGroup.options) as (keyof CaptureOptions & string)[]
/** Options that move the ignored areas. */
const MOVING_OPTIONS = ['imageWidth', 'imageHeight', 'imageTrim', 'imagePadding', 'imageMaxBytes'] as const

/** The part of a schedule's spec that decides whether its runs can be compared. */
interface Compared {
  comparison?: ScheduleComparison | undefined
  template: { options?: CaptureOptions | undefined }
}

/** A field of the template that a schedule with a comparison cannot have. The message has names in camel case, and says how to fix it. */
interface ComparisonConflict extends Required<Pick<CelRule, 'rule' | 'message'>> {
  /** The option of the template, in camel case. */
  option: keyof CaptureOptions & string
  holds: (spec: Compared) => boolean
}

const HAS_OPTIONS = 'has(self.comparison) && has(self.template.options)'

/** A conflict between `comparison`, or a field of it, and options of the template for which the condition holds. */
const conflict = (option: ComparisonConflict['option'], message: string, refused = set(option), field?: 'ignore'): ComparisonConflict => ({
  option,
  message,
  rule: `!(${HAS_OPTIONS}) || ${field ? `!has(self.comparison.${field}) || ` : ''}${refused.opposite?.replaceAll('self.', 'self.template.options.')}`,
  holds: ({ comparison, template: { options = {} } }) => (field ? comparison?.[field] : comparison) !== undefined && refused.holds(options),
})

/** Every conflict between `comparison` and the options of the template. The API server and the programs check the same. */
export const comparisonConflicts: readonly ComparisonConflict[] = [
  conflict(
    'format',
    'comparison needs a picture: set template.options.format to png, jpeg, webp or avif, or remove comparison',
    other('format', ...ImageFormat.options),
  ),
  ...OWN_OPTIONS.map((option) => conflict(option, `comparison sets ${option} of each run: remove it from template.options`)),
  ...MOVING_OPTIONS.map((option) =>
    conflict(
      option,
      `comparison.ignore and ${option} exclude each other, because the areas would move: remove one of them`,
      set(option),
      'ignore',
    ),
  ),
]

/** The same checks for the API server. */
const comparisonRules: CelRule[] = comparisonConflicts.map(({ rule, message }) => ({ rule, message }))

const runId = (what: string) => z.string().max(30).refine(isScreenshotId).describe(what)

/** The picture that the next run is compared with. It is a copy, which is kept until another one replaces it. */
export const ScheduleBaseline = KeptBaseline.extend({
  id: runId('Id of the run whose picture it is.'),
  time: instant('Time at which that run was due.'),
})
export type ScheduleBaseline = z.infer<typeof ScheduleBaseline>

/** Approvals in the status. */
export const MAX_APPROVALS = 10
/** Characters of the name of a person or a key. */
export const MAX_APPROVER = 100

const approver = (what: string) =>
  z.string().max(MAX_APPROVER).describe(`${what}: the id of an API key, or the text of the annotation tintype.dev/approved-by.`)

/** The picture that an approval replaced. Its other facts are in the record of its run. */
export const ReplacedBaseline = z.object({
  id: runId('Id of the run whose picture it is.'),
  time: instant('Time at which that run was due.'),
  etag: KeptBaseline.shape.etag.describe('ETag of the picture. Absent: the picture is gone.').optional(),
  textEtag: z.string().max(128).describe('ETag of its text.').optional(),
})
export type ReplacedBaseline = z.infer<typeof ReplacedBaseline>

/** An approval of a run by a person. */
export const RunApproval = z.object({
  id: runId('Id of the approved run.'),
  approvalTime: instant('Time of the approval.'),
  by: approver('Who approved it').optional(),
  replaced: ReplacedBaseline.describe('Picture that runs were compared with before. Absent: there was none.').optional(),
  undoneTime: instant('Time at which the approval was undone.').optional(),
  undoneBy: approver('Who undid it').optional(),
})
export type RunApproval = z.infer<typeof RunApproval>

/** The result of the last run that was compared. */
export const LastComparison = z.object({
  id: runId('Id of the run.'),
  time: instant('Time at which the run was due.'),
  to: runId('Id of the run that it was compared with.'),
  changed: z.boolean().describe('True if the page changed.'),
  changedRatio: z.number().min(0).max(1).describe('Changed pixels as a share of all pixels, 0 to 1.').optional(),
  changedPixels: z.int().min(0).describe('Number of changed pixels.').optional(),
  sizeChanged: z.boolean().describe('True if the pictures have different sizes.').optional(),
  textChanged: Comparison.shape.textChanged,
  wordsAdded: Comparison.shape.wordsAdded,
  wordsRemoved: Comparison.shape.wordsRemoved,
})
export type LastComparison = z.infer<typeof LastComparison>

/** The capture policy of the key that created or last changed a schedule, as it was then. */
export const SchedulePolicy = z.object({ keyId: ScreenshotPolicy.shape.keyId, ...CapturePolicySpec.shape })
export type SchedulePolicy = z.infer<typeof SchedulePolicy>

/** The Screenshot that each run creates. */
export const ScheduleTemplate = ScreenshotSpec.pick({
  url: true,
  poolName: true,
  options: true,
  externalIdentifier: true,
  attachmentName: true,
  downloadUrlTtlSeconds: true,
  retentionDays: true,
  webhookUrl: true,
  webhookEvents: true,
  sealedOptions: true,
  optionsObject: true,
  hiddenOptions: true,
  privateOptionsSecretRef: true,
}).extend({
  capturePolicy: SchedulePolicy.describe(
    'Capture policy that runs obey, and id of the API key whose policy they also obey as it is then. Absent: no limits. Set by the gateway only.',
  ).optional(),
})
export type ScheduleTemplate = z.infer<typeof ScheduleTemplate>

const MAX_ZONE_LENGTH = 64
const MAX_DEADLINE_SECONDS = 31_622_400
const MAX_SPREAD_SECONDS = 86_400
/** Unfinished runs in the status. */
export const MAX_ACTIVE_RUNS = 32
/** Ended runs in the status. The bucket has the others. */
export const MAX_RECENT_RUNS = 20

/** The fields that decide when a schedule is due. REST has the same in snake case. */
export const scheduleFields = {
  schedule: z
    .string()
    .min(1)
    .max(MAX_CRON_LENGTH)
    .superRefine((text, context) => {
      try {
        parseCron(text)
      } catch (error) {
        if (!(error instanceof CronError)) throw error
        context.addIssue({ code: 'custom', message: error.message })
      }
    })
    .meta({ 'x-kubernetes-validations': cronRules })
    .describe(
      'When to capture: a cron expression of five fields, a macro such as @hourly, or @every and a duration such as 1h30m. As in Kubernetes’ CronJob.',
    ),
  timeZone: z
    .string()
    .min(1)
    .max(MAX_ZONE_LENGTH)
    .refine(isTimeZone, { error: ({ input }) => describeTimeZone(String(input)) })
    .meta({ 'x-kubernetes-validations': timeZoneRules })
    .describe('Time zone of the schedule: a name of the IANA database such as Europe/Zurich. Default: UTC.'),
  suspend: z.boolean().describe('If true, no runs are created. Default: false.'),
  concurrencyPolicy: z
    .enum(['Forbid', 'Allow'])
    .describe('Forbid: a run waits until the previous one has ended. Allow: runs may overlap. Default: Forbid.'),
  startingDeadlineSeconds: z
    .int()
    .min(1)
    .max(MAX_DEADLINE_SECONDS)
    .describe('Seconds after its due time within which a missed run may still start, 1 to 31622400. Default: no limit.'),
  spreadSeconds: z
    .int()
    .min(0)
    .max(MAX_SPREAD_SECONDS)
    .describe('Seconds over which schedules are spread, 0 to 86400: each is late by a part of it that its uid determines. Default: 0.'),
} as const

export const ScreenshotScheduleSpec = z.object({
  accountName: objectName('Account that the schedule belongs to. Default: default.').optional(),
  name: displayName('Name for people, at most 100 characters. Default: the name of the object.').optional(),
  schedule: scheduleFields.schedule,
  ...z.object(scheduleFields).omit({ schedule: true }).partial().shape,
  template: ScheduleTemplate.describe('Screenshot to create for each run.'),
  comparison: ScheduleComparison.describe('How runs are compared with an earlier picture. If absent, nothing is compared.').optional(),
})
export type ScreenshotScheduleSpec = z.infer<typeof ScreenshotScheduleSpec>

const shotId = runId('Id of the Screenshot.')
const runTime = instant('Time at which the run was due.')
const changedRatio = z.number().min(0).max(1).describe('Changed pixels as a share of all pixels, 0 to 1.').optional()

export const ActiveRun = z.object({ id: shotId, time: runTime })
export type ActiveRun = z.infer<typeof ActiveRun>

/** How a run ended. `deleted`: the Screenshot was deleted before its end was recorded. */
export const RunOutcome = z.enum(['completed', 'failed', 'deleted'])
export type RunOutcome = z.infer<typeof RunOutcome>

export const RecentRun = z.object({
  id: shotId,
  time: runTime,
  completionTime: instant('Time at which the capture ended.').optional(),
  outcome: RunOutcome.describe('How the run ended.'),
  code: z.string().max(64).describe('Error code of a failed capture.').optional(),
  changed: z.boolean().describe('Whether the picture differs from the one that it was compared with.').optional(),
  changedRatio,
  unfit: UnfitReason.describe(`Why the picture was not compared. ${UNFIT_MEANING}`).optional(),
})
export type RecentRun = z.infer<typeof RecentRun>

/** When a schedule is due, as the operator has seen it. */
export const SeenTiming = z.object({
  schedule: z.string().max(MAX_CRON_LENGTH).describe('Value of spec.schedule.'),
  timeZone: z.string().max(MAX_ZONE_LENGTH).describe('Value of spec.timeZone.').optional(),
  since: instant('Time at which the operator saw the change. Earlier times have no run.').optional(),
})
export type SeenTiming = z.infer<typeof SeenTiming>

/** The last run that differed from the picture that it was compared with. */
export const LastChange = z.object({
  id: shotId,
  time: runTime,
  changedRatio,
  share: z.string().max(16).describe('The same in percent, for kubectl get.').optional(),
})
export type LastChange = z.infer<typeof LastChange>

export const ScreenshotScheduleStatus = z.object({
  url: z.string().max(MAX_SHORT_URL).describe('URL of the template, cut after 80 characters, for kubectl get.').optional(),
  conditions: Conditions.describe('Conditions Ready, Suspended, LastRunSucceeded and Fit.').optional(),
  nextScheduleTime: instant('Time at which the next run is due, before spreadSeconds.').optional(),
  lastScheduleTime: instant('Time at which the last created run was due.').optional(),
  lastRunTime: instant('Time at which the last run was due or requested.').optional(),
  timing: SeenTiming.describe('When the schedule is due, as the operator has seen it.').optional(),
  lastSuccessfulTime: instant('Time at which the last successful run was due.').optional(),
  baseline: ScheduleBaseline.describe('Picture that the next run is compared with.').optional(),
  lastComparison: LastComparison.describe('Last comparison of a run. Removed when its run is approved.').optional(),
  approvals: z.array(RunApproval).max(MAX_APPROVALS).describe('Last approvals, the newest first.').optional(),
  lastChange: LastChange.describe('Last run that differed. Kept after an approval.').optional(),
  moving: MovingParts.describe(
    'Parts of the page that moved in the last run that completed. The next run does not wait for them.',
  ).optional(),
  active: z.array(ActiveRun).max(MAX_ACTIVE_RUNS).describe('Runs that have not ended.').optional(),
  recentRuns: z.array(RecentRun).max(MAX_RECENT_RUNS).describe('Last ended runs, the newest first.').optional(),
})
export type ScreenshotScheduleStatus = z.infer<typeof ScreenshotScheduleStatus>

export const ScreenshotSchedule = z.object({
  metadata: Metadata,
  spec: ScreenshotScheduleSpec,
  status: ScreenshotScheduleStatus.optional(),
})
export type ScreenshotSchedule = z.infer<typeof ScreenshotSchedule>

/** As the operator reads it: the API server has checked the schedule and the time zone, perhaps with other tables. */
export const StoredSchedule = ScreenshotSchedule.extend({
  spec: ScreenshotScheduleSpec.extend({ schedule: z.string(), timeZone: z.string().optional() }),
})
export type StoredSchedule = z.infer<typeof StoredSchedule>

export const screenshotScheduleDefinition: Definition = {
  kind: 'ScreenshotSchedule',
  plural: 'screenshotschedules',
  singular: 'screenshotschedule',
  shortNames: ['shotsched'],
  description: 'A ScreenshotSchedule creates a Screenshot of a page again and again.',
  columns: [
    // The names of objects from REST are ids.
    { name: 'Title', type: 'string', jsonPath: '.spec.name', description: 'Name for people.' },
    { name: 'Schedule', type: 'string', jsonPath: '.spec.schedule' },
    { name: 'Time zone', type: 'string', jsonPath: '.spec.timeZone' },
    { name: 'Suspend', type: 'boolean', jsonPath: '.spec.suspend' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Last run', type: 'date', jsonPath: '.status.lastRunTime' },
    { name: 'Outcome', type: 'string', jsonPath: '.status.conditions[?(@.type=="LastRunSucceeded")].reason' },
    { name: 'Changed', type: 'date', jsonPath: '.status.lastChange.time', description: 'Age of the last run that differed.' },
    { name: 'By', type: 'string', jsonPath: '.status.lastChange.share', description: 'Share of the pixels that differed then.' },
    { name: 'Fit', type: 'string', jsonPath: '.status.conditions[?(@.type=="Fit")].status', priority: 1 },
    // kubectl prints a date as an age, and a future date as <invalid>.
    { name: 'Next run', type: 'string', jsonPath: '.status.nextScheduleTime' },
    { name: 'URL', type: 'string', jsonPath: '.status.url', priority: 1, description: 'Beginning of spec.template.url.' },
    { name: 'Account', type: 'string', jsonPath: '.spec.accountName', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: ['.spec.accountName'],
  spec: ScreenshotScheduleSpec.describe('When to capture, and the Screenshot to create.'),
  status: ScreenshotScheduleStatus.describe('State of the schedule. Written by the operator.'),
  specRules: comparisonRules,
}
