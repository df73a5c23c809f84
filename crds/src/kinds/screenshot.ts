import { z } from 'zod'
import { CaptureOptions } from '../options/catalog.ts'
import { contradictionRules } from '../options/contradictions.ts'
import { MAX_IGNORE_ENTRIES } from '../options/output/comparison.ts'
import { deliveryGroup } from '../options/output/delivery.ts'
import { FileFormat } from '../options/output/formats.ts'
import { Conditions } from '../schema/conditions.ts'
import { type Definition, instant, Metadata, objectName, subdomainName } from '../schema/custom-resource.ts'
import { JOB_ERRORS, type JobErrorCode } from '../schema/errors.ts'
import { MAX_SHORT_URL, TargetUrl } from '../schema/fields.ts'
import { ScreenshotPolicy } from './capture-policy.ts'
import { Comparison, Engine, FormKind, IgnoredElements, MovingParts, UNFIT_MEANING, UnfitReason } from './comparison.ts'
import { PageNotes, StoredArtifact } from './page-notes.ts'

const cacheHash = (what: string) =>
  z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe(what)
    .optional()

const forms = (what: string) => z.array(FormKind).max(2).describe(what)
const MAX_URL = 8_192

/** The picture that a schedule keeps for its next comparison. */
export const KeptBaseline = z.object({
  key: z.string().max(256).describe('Key of the picture in the bucket.'),
  etag: z.string().max(128).describe('ETag of the picture.'),
  ignored: z.array(IgnoredElements).max(MAX_IGNORE_ENTRIES).describe('Areas that its own capture ignored.').optional(),
  finalUrl: z.string().max(MAX_URL).describe('URL of its page after redirects.').optional(),
  forms: forms('Forms that its page shows. Absent: not known.').optional(),
  engine: Engine.describe('What drew the picture. Absent: not known.').optional(),
  text: z
    .object({ key: z.string().max(256).describe('Key in the bucket.'), etag: z.string().max(128).describe('ETag of the file.') })
    .describe('Copy of the visible text of its page.')
    .optional(),
})
export type KeptBaseline = z.infer<typeof KeptBaseline>

export const ScreenshotSpec = z.object({
  url: TargetUrl,
  accountName: objectName('Account that the screenshot belongs to. Default: default.').optional(),
  poolName: objectName('RunnerPool that captures it. Default: default, and video for mp4, webm and gif.').optional(),
  options: CaptureOptions.describe('Options of the capture. Absent options use their defaults.')
    .meta({ 'x-kubernetes-validations': contradictionRules })
    .optional(),
  batchId: z.string().max(64).describe('Id of the batch that created the screenshot.').optional(),
  externalIdentifier: deliveryGroup.options.externalIdentifier.optional(),
  attachmentName: deliveryGroup.options.attachmentName.optional(),
  downloadUrlTtlSeconds: deliveryGroup.options.downloadUrlTtl.optional(),
  retentionDays: deliveryGroup.options.retentionDays.optional(),
  webhookUrl: deliveryGroup.options.webhookUrl.optional(),
  webhookEvents: deliveryGroup.options.webhookEvents.optional(),
  cacheAs: cacheHash('Hash of the request, under which its picture is cached. Set by the gateway only.'),
  cachedFrom: cacheHash(
    'Hash of the request, if a cached picture existed at creation. The picture is reused if it still exists. Set by the gateway only.',
  ),
  baseline: KeptBaseline.describe(
    'Copy of the picture of options.compareTo that is kept beyond its retention. Set by the operator only.',
  ).optional(),
  reservation: z
    .string()
    .max(64)
    .describe('Quota reservation that paid for the screenshot. If absent, it is charged when it is claimed. Set by the gateway only.')
    .optional(),
  sealedOptions: z
    .string()
    .max(16_384)
    .describe('Private options, encrypted for the operator (JWE) and bound to this object. Set by the gateway only.')
    .optional(),
  optionsObject: z
    .string()
    .max(512)
    .describe('Key of the object in the bucket with large options, encrypted for the operator. Set by the gateway only.')
    .optional(),
  hiddenOptions: z
    .array(z.string().max(64))
    .max(64)
    .describe('Names of the options that are encrypted or in the bucket, and therefore not shown here. Set by the gateway only.')
    .optional(),
  capturePolicy: ScreenshotPolicy.describe(
    'Hosts that the capture policy of the API key allows, as it was at creation. Absent: no limits. Set by the gateway only.',
  ).optional(),
  scheduleRef: z
    .object({
      name: subdomainName('Name of the ScreenshotSchedule.'),
      uid: z.string().max(64).describe('UID of the ScreenshotSchedule.'),
      id: z.string().max(64).describe('Id of the schedule in the REST API.').optional(),
      time: instant('Time at which the run was due.'),
      wasFit: z
        .boolean()
        .describe('Whether the last run showed the page, so that the run can report a change of that. Absent: runs are not compared.')
        .optional(),
      moving: MovingParts.describe('Parts of the page that moved in the last run, so that this one need not wait for them.').optional(),
    })
    .describe('Schedule of which the screenshot is a run. Set by the operator and the gateway only.')
    .optional(),
  privateOptionsSecretRef: z
    .object({ name: z.string().min(1).max(253).describe('Name of the Secret.') })
    .describe('Secret of type tintype.dev/private-options with private options in its key options.json, for objects created with kubectl.')
    .optional(),
})
export type ScreenshotSpec = z.infer<typeof ScreenshotSpec>

export const Phase = z.enum(['Pending', 'Running', 'Completed', 'Failed'])
export type Phase = z.infer<typeof Phase>

/** The runner pod that holds the claim of the current attempt. */
export const RunnerClaim = z.object({
  pod: z.string().max(253).describe('Name of the pod.'),
  uid: z.string().max(64).describe('UID of the pod.'),
})
export type RunnerClaim = z.infer<typeof RunnerClaim>

const milliseconds = (what: string) => z.int().min(0).describe(`${what}, in milliseconds.`)

export const CaptureError = z.object({
  code: z.enum(Object.keys(JOB_ERRORS) as [JobErrorCode, ...JobErrorCode[]]).describe('Machine-readable error code.'),
  message: z.string().max(1024).describe('Human-readable error message.'),
})
export type CaptureError = z.infer<typeof CaptureError>

export const CaptureResult = z.object({
  error: CaptureError.describe('Why the capture failed; absent if it succeeded.').optional(),
  format: FileFormat.describe('Format of the file.').optional(),
  fileSizeBytes: z.int().min(0).describe('Size of the file in bytes.').optional(),
  etag: z.string().max(128).describe('ETag of the file in the store. The gateway serves only a file with this ETag.').optional(),
  width: z.int().min(0).describe('Width of the picture in device pixels.').optional(),
  height: z.int().min(0).describe('Height of the picture in device pixels.').optional(),
  truncated: z.boolean().describe('True if the page exceeded the maximum height of the picture.').optional(),
  processingMilliseconds: milliseconds('Time from the start of the capture in the runner to the stored file').optional(),
  durationMilliseconds: milliseconds('Length of the video').optional(),
  fps: z.int().min(0).max(1_000).describe('Frames in each second of the video.').optional(),
  frames: z.int().min(0).max(1_000_000).describe('Number of frames of the video.').optional(),
  pageTitle: z.string().max(512).describe('Title of the page.').optional(),
  finalUrl: z.string().max(MAX_URL).describe('URL after redirects.').optional(),
  httpStatus: z.int().min(0).max(999).describe('HTTP status of the page.').optional(),
  comparison: Comparison.describe('Comparison with the picture of compareTo.').optional(),
  ignored: z.array(IgnoredElements).max(MAX_IGNORE_ENTRIES).describe('Areas of the elements that compareIgnore names.').optional(),
  unfit: UnfitReason.describe(`Why the picture must not be compared with others. ${UNFIT_MEANING}`).optional(),
  forms: forms('Forms that the page shows.').optional(),
  engine: Engine.describe('What drew the picture.').optional(),
  moving: MovingParts.describe('Parts of the page that moved when the picture was taken.').optional(),
  page: PageNotes.describe('Facts about the page that options request.').optional(),
  artifacts: z.array(StoredArtifact).max(16).describe('Files beside the picture.').optional(),
  warnings: z.array(z.string().max(256)).max(16).describe('Warnings about options without effect and about incomplete waits.').optional(),
  timings: z
    .record(z.string().max(32), z.int().min(0))
    .describe('Duration of each step in milliseconds.')
    .meta({ maxProperties: 64 })
    .optional(),
  size: z.string().max(16).describe('Human-readable size of the file, for kubectl get.').optional(),
  duration: z.string().max(16).describe('Human-readable duration of the capture, for kubectl get.').optional(),
})
export type CaptureResult = z.infer<typeof CaptureResult>

/** State of the delivery of one event to one webhook. The operator writes every field. */
export const DeliveryEntry = z.object({
  attempts: z.int().min(0).max(100).default(1).describe('Number of recorded attempts.'),
  at: instant('Time of the last change. For an open delivery, the time at which the next attempt is due.'),
  state: z
    .enum(['open', 'ok', 'failed'])
    .default('ok')
    .describe('open: another attempt is due. ok: the endpoint responded with 2xx. failed: no further attempt.'),
})
export type DeliveryEntry = z.infer<typeof DeliveryEntry>

/** Maximum deliveries of one event in `status.deliveries`: one to the URL of the request, the others to webhooks of the account. */
export const MAX_DELIVERIES = 64

export const ScreenshotStatus = z.object({
  id: z.string().max(30).describe('Id in the REST API and in events (scr_…). Set when the Screenshot is claimed.').optional(),
  storagePath: z
    .string()
    .max(128)
    .describe('Key of the file in the bucket, for information. The file exists once the phase is Completed.')
    .optional(),
  url: z.string().max(MAX_SHORT_URL).describe('URL of the spec, cut after 80 characters, for kubectl get.').optional(),
  phase: Phase.describe(
    'Phase: Pending, Running, Completed or Failed. Derived from the conditions, for kubectl get and field selectors.',
  ).optional(),
  runner: RunnerClaim.describe('Pod that may report this attempt.').optional(),
  attempt: z.int().min(0).max(100).describe('Number of the attempt, starting at 1.').optional(),
  lostRunners: z.int().min(0).max(100).describe('Number of attempts that ended because their pod was lost.').optional(),
  handedBack: z
    .int()
    .min(0)
    .max(100)
    .describe('Number of times that a terminating pod returned the capture to the queue. These do not count as attempts.')
    .optional(),
  startTime: instant('Time at which the current attempt was claimed.').optional(),
  completionTime: instant('Time at which the capture completed or failed.').optional(),
  result: CaptureResult.describe('Result that the runner reported.').optional(),
  restoredFrom: z
    .string()
    .max(30)
    .describe('Id of the archived record whose result this is, because the Screenshot was applied again with the same spec.')
    .optional(),
  conditions: Conditions.describe('Conditions Succeeded (Unknown while pending) and Finished (True after success or failure).').optional(),
  deliveries: z
    .record(z.string().max(64), z.record(z.string().max(253), DeliveryEntry).meta({ maxProperties: MAX_DELIVERIES }))
    .meta({ maxProperties: 8 })
    .describe('Webhook deliveries by event type and webhook name. Written by the delivery controller only.')
    .optional(),
})
export type ScreenshotStatus = z.infer<typeof ScreenshotStatus>

export const Screenshot = z.object({ metadata: Metadata, spec: ScreenshotSpec, status: ScreenshotStatus.optional() })
export type Screenshot = z.infer<typeof Screenshot>

export const isFinished = ({ status }: Pick<Screenshot, 'status'>): boolean => status?.phase === 'Completed' || status?.phase === 'Failed'

export const screenshotDefinition: Definition = {
  kind: 'Screenshot',
  plural: 'screenshots',
  singular: 'screenshot',
  shortNames: ['shot'],
  description: 'A Screenshot is one web page to capture, and the result.',
  columns: [
    { name: 'Status', type: 'string', jsonPath: '.status.phase' },
    { name: 'URL', type: 'string', jsonPath: '.status.url', description: 'Beginning of spec.url. Set when the Screenshot is claimed.' },
    { name: 'Format', type: 'string', jsonPath: '.status.result.format' },
    { name: 'Size', type: 'string', jsonPath: '.status.result.size' },
    { name: 'Duration', type: 'string', jsonPath: '.status.result.duration' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Succeeded")].reason', priority: 1 },
    { name: 'Attempt', type: 'integer', jsonPath: '.status.attempt', priority: 1 },
    { name: 'Runner', type: 'string', jsonPath: '.status.runner.pod', priority: 1 },
    { name: 'Account', type: 'string', jsonPath: '.spec.accountName', priority: 1 },
    { name: 'Id', type: 'string', jsonPath: '.status.id', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: ScreenshotSpec.describe('Page to capture, and options. The spec is immutable.'),
  status: ScreenshotStatus.describe('Progress and result of the capture. Written by the operator and the runner.'),
  specRules: [{ rule: 'self == oldSelf', message: 'the spec of a Screenshot is immutable: create another Screenshot' }],
  statusDefault: { phase: 'Pending' },
  selectableFields: ['.status.phase', '.spec.accountName', '.spec.scheduleRef.name'],
  isWrittenWhole: true,
}
