import { z } from 'zod'
import { CaptureOptions } from '../options/catalogue.ts'
import { contradictionRules } from '../options/contradictions.ts'
import { deliveryOptions } from '../options/output/delivery.ts'
import { FileFormat } from '../options/output/image.ts'
import { Conditions } from '../schema/conditions.ts'
import { type Definition, instant, Metadata, objectName } from '../schema/custom-resource.ts'
import { JOB_ERRORS, type JobErrorCode } from '../schema/errors.ts'
import { MAX_SHORT_URL, TargetUrl } from '../schema/urls.ts'
import { PageNotes, StoredArtifact } from './page-notes.ts'

const cacheHash = (what: string) =>
  z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe(what)
    .optional()

export const ScreenshotSpec = z.object({
  url: TargetUrl,
  accountName: objectName('Account that the screenshot belongs to. Default: default.').optional(),
  poolName: objectName('RunnerPool that captures it. Default: default.').optional(),
  options: CaptureOptions.describe('How to capture; what is absent was not chosen.')
    .meta({ 'x-kubernetes-validations': contradictionRules })
    .optional(),
  batchId: z.string().max(64).describe('Batch that it was created with.').optional(),
  externalIdentifier: deliveryOptions.externalIdentifier.optional(),
  attachmentName: deliveryOptions.attachmentName.optional(),
  downloadUrlTtlSeconds: deliveryOptions.downloadUrlTtl.optional(),
  retentionDays: deliveryOptions.retentionDays.optional(),
  webhookUrl: deliveryOptions.webhookUrl.optional(),
  webhookEvents: deliveryOptions.webhookEvents.optional(),
  cacheAs: cacheHash('Hash of the request: its picture is kept for later ones under it; set by the gateway only.'),
  cachedFrom: cacheHash(
    'Hash of the request, of which there was a picture when this was created: it is taken if it is still there; set by the gateway only.',
  ),
  reservation: z
    .string()
    .max(64)
    .describe('Reservation of quota that paid for it; set by the gateway only. Absent: charged when it is claimed.')
    .optional(),
  sealedOptions: z
    .string()
    .max(16_384)
    .describe('Private options, encrypted to the operator (JWE) and bound to this object; set by the gateway only.')
    .optional(),
  optionsObject: z
    .string()
    .max(256)
    .describe('Key of the object in the bucket that holds large options, encrypted to the operator; set by the gateway only.')
    .optional(),
  hiddenOptions: z
    .array(z.string().max(64))
    .max(64)
    .describe('Names of the options that are sealed, or in the bucket, and so not shown here; set by the gateway only.')
    .optional(),
  privateOptionsSecretRef: z
    .object({ name: z.string().min(1).max(253).describe('Name of the Secret.') })
    .describe('Secret of type tintype.dev/private-options whose key options.json holds private options, for objects made with kubectl.')
    .optional(),
})
export type ScreenshotSpec = z.infer<typeof ScreenshotSpec>

export const Phase = z.enum(['Pending', 'Running', 'Completed', 'Failed'])
export type Phase = z.infer<typeof Phase>

/** The runner pod that holds the claim of the current attempt. */
export const RunnerClaim = z.object({
  pod: z.string().max(253).describe('Name of the pod.'),
  uid: z.string().max(64).describe('Uid of the pod.'),
})
export type RunnerClaim = z.infer<typeof RunnerClaim>

const milliseconds = (what: string) => z.int().min(0).describe(`${what}, in milliseconds.`)

export const CaptureError = z.object({
  code: z.enum(Object.keys(JOB_ERRORS) as [JobErrorCode, ...JobErrorCode[]]).describe('What went wrong, for programs.'),
  message: z.string().max(1024).describe('What went wrong, for a person.'),
})
export type CaptureError = z.infer<typeof CaptureError>

export const CaptureResult = z.object({
  error: CaptureError.describe('Why there is no picture; absent when there is one.').optional(),
  format: FileFormat.describe('Format of the file.').optional(),
  fileSizeBytes: z.int().min(0).describe('Size of the file in bytes.').optional(),
  etag: z.string().max(128).describe('Entity tag of the file in the store; only a file that matches is served.').optional(),
  width: z.int().min(0).describe('Width of the picture in device pixels.').optional(),
  height: z.int().min(0).describe('Height of the picture in device pixels.').optional(),
  truncated: z.boolean().describe('True when the page was taller than the picture may be.').optional(),
  processingMilliseconds: milliseconds('Time from dispatch to the stored file').optional(),
  pageTitle: z.string().max(512).describe('Title of the page.').optional(),
  finalUrl: z.string().max(8192).describe('Address after redirects.').optional(),
  httpStatus: z.int().min(0).max(999).describe('HTTP status of the page.').optional(),
  page: PageNotes.describe('What else was noted of the page, as options ask.').optional(),
  artifacts: z.array(StoredArtifact).max(16).describe('Files beside the picture.').optional(),
  warnings: z.array(z.string().max(256)).max(16).describe('What had no effect or was cut short.').optional(),
  timings: z
    .record(z.string().max(32), z.int().min(0))
    .describe('Milliseconds that each step took.')
    .meta({ maxProperties: 64 })
    .optional(),
  size: z.string().max(16).describe('The file’s size for a person; derived, for printing.').optional(),
  duration: z.string().max(16).describe('The capture’s duration for a person; derived, for printing.').optional(),
})
export type CaptureResult = z.infer<typeof CaptureResult>

/**
 * State of the delivery of one event to one webhook. Entries that an earlier version wrote have other fields, which the API server drops: by the
 * defaults they count as delivered.
 */
export const DeliveryEntry = z.object({
  attempts: z.int().min(0).max(100).default(1).describe('Number of recorded attempts.'),
  at: instant('Time of the last change. For an open delivery, the time at which the next attempt is due.'),
  state: z
    .enum(['open', 'ok', 'failed'])
    .default('ok')
    .describe('open: another attempt is due. ok: the endpoint responded with 2xx. failed: no further attempt.'),
})
export type DeliveryEntry = z.infer<typeof DeliveryEntry>

/** Deliveries of one event in `status.deliveries`: one to the URL of the request, the others to webhooks of the account. */
export const MAX_DELIVERIES = 64

export const ScreenshotStatus = z.object({
  id: z.string().max(30).describe('Id in REST and in events (scr_…); written when the Screenshot is claimed.').optional(),
  storagePath: z
    .string()
    .max(128)
    .describe('Key of the file in the bucket, for people; the file is there once the phase is Completed.')
    .optional(),
  url: z.string().max(MAX_SHORT_URL).describe('The URL of the spec, cut after 80 characters; derived, for printing.').optional(),
  phase: Phase.describe('Pending, Running, Completed or Failed; derived from the conditions, for printing and field selectors.').optional(),
  runner: RunnerClaim.describe('The pod that may report this attempt.').optional(),
  attempt: z.int().min(0).max(100).describe('Number of the attempt, from 1.').optional(),
  lostRunners: z.int().min(0).max(100).describe('Attempts that ended because their pod was lost.').optional(),
  handedBack: z.int().min(0).max(100).describe('Times that a pod which was asked to go gave it back; no attempts.').optional(),
  startTime: instant('When the current attempt was claimed.').optional(),
  completionTime: instant('When it ended, either way.').optional(),
  result: CaptureResult.describe('What the runner reported.').optional(),
  conditions: Conditions.describe('Succeeded (Unknown while pending) and Finished (True either way in the end).').optional(),
  deliveries: z
    .record(z.string().max(64), z.record(z.string().max(253), DeliveryEntry).meta({ maxProperties: MAX_DELIVERIES }))
    .meta({ maxProperties: 8 })
    .describe('Webhook deliveries by event type and webhook name; the delivery controller’s alone.')
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
  description: 'A Screenshot is one web page to capture, and what became of it.',
  columns: [
    { name: 'Status', type: 'string', jsonPath: '.status.phase' },
    { name: 'URL', type: 'string', jsonPath: '.status.url', description: 'Beginning of spec.url, once it is claimed.' },
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
  spec: ScreenshotSpec.describe('The page to capture, and how. A Screenshot cannot be changed: create another.'),
  status: ScreenshotStatus.describe('How far the capture is, and what came of it. Written by the operator and the runner.'),
  specRules: [{ rule: 'self == oldSelf', message: 'the spec of a Screenshot is immutable: create another' }],
  statusDefault: { phase: 'Pending' },
  selectableFields: ['.status.phase', '.spec.accountName'],
  isWrittenWhole: true,
}
