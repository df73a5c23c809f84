import { z } from 'zod'
import { createdAtOf, isScreenshotId, screenshotIdOf } from '../identifiers/ids.ts'
import { DEFAULT_ACCOUNT } from '../identifiers/names.ts'
import type { Screenshot } from '../kinds/screenshot.ts'
import { FileFormat, ThumbnailFormat } from '../options/output/formats.ts'
import type { Whole } from '../schema/custom-resource.ts'
import type { IgnoreReason } from './ignored-objects.ts'
import type { RecordPlace } from './storage-keys.ts'
import { isFuture, parseStoredJson } from './stored-json.ts'

// The fields of an archived record that readers use. The schema is loose, so that a record stays readable when a later version adds or removes
// fields. Its limits are wider than those of the CRD, unknown fields are kept, and only options that determine file names are checked.

export const FORMAT_VERSION = 1

const MAX_TEXT = 65_536
const text = (length = MAX_TEXT) => z.string().max(length)
const count = z.number().min(0)
const day = z.int().min(1).max(100_000)
const texts = z.array(text()).max(1_000)
const named = <T extends z.ZodType>(value: T) => z.record(text(512), value)
const instant = text(40).refine((value) => !Number.isNaN(Date.parse(value)))

const Page = z.looseObject({
  redirects: texts.optional(),
  responseHeaders: named(text()).optional(),
  imageSize: z.boolean().optional(),
  openGraph: named(text()).optional(),
  icon: text().optional(),
  fonts: texts.optional(),
  timings: named(count).optional(),
  contentHash: z.looseObject({ sha256: text(128), perceptual: text(128).optional() }).optional(),
  palette: texts.optional(),
  blockedRequests: count.optional(),
  links: texts.optional(),
})

const Box = z.looseObject({ x: count, y: count, width: count, height: count })

const Comparison = z.looseObject({
  changed: z.boolean(),
  changedPixels: count.optional(),
  changedRatio: count.optional(),
  sizeChanged: z.boolean().optional(),
  regions: z.array(Box).max(1_000).optional(),
  skipped: text(64).optional(),
})

const Result = z.looseObject({
  error: z.looseObject({ code: z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/), message: text() }).optional(),
  format: text(32).optional(),
  fileSizeBytes: z.int().min(0).optional(),
  etag: text(256).optional(),
  width: z.int().min(0).optional(),
  height: z.int().min(0).optional(),
  truncated: z.boolean().optional(),
  processingMilliseconds: count.optional(),
  durationMilliseconds: count.optional(),
  fps: count.optional(),
  frames: count.optional(),
  pageTitle: text().optional(),
  finalUrl: text().optional(),
  httpStatus: z.int().optional(),
  page: Page.optional(),
  comparison: Comparison.optional(),
  ignored: z
    .array(z.looseObject({ selector: text(), boxes: z.array(Box).max(1_000) }))
    .max(100)
    .optional(),
  unfit: text(64).optional(),
  artifacts: z
    .array(z.looseObject({ type: text(64), fileSizeBytes: z.int().min(0), etag: text(256) }))
    .max(64)
    .optional(),
  warnings: texts.optional(),
  timings: named(count).optional(),
})

const Options = z.looseObject({
  format: FileFormat.optional(),
  thumbnailFormat: ThumbnailFormat.optional(),
  thumbnailWidth: z.number().optional(),
  thumbnailHeight: z.number().optional(),
  device: text(256).optional(),
  compareTo: text(64).optional(),
  videoDuration: z.number().min(1).max(3_600).optional(),
})

const Archived = z.looseObject({
  id: z.string().refine(isScreenshotId),
  v: z.literal(FORMAT_VERSION),
  metadata: z.looseObject({
    name: z.string().min(1).max(253),
    namespace: text(253),
    uid: text(128),
    resourceVersion: text(64),
    creationTimestamp: instant,
    annotations: named(text()).optional(),
  }),
  spec: z.looseObject({
    url: z.string().min(1).max(MAX_TEXT),
    accountName: text(63).optional(),
    options: Options.optional(),
    hiddenOptions: z.array(text(128)).max(256).optional(),
    batchId: text(128).optional(),
    externalIdentifier: text().optional(),
    attachmentName: text(1_024).optional(),
    downloadUrlTtlSeconds: z.int().min(1).max(100_000_000).optional(),
    retentionDays: day.optional(),
    cachedFrom: text(128).optional(),
  }),
  status: z.looseObject({
    phase: z.enum(['Pending', 'Running', 'Completed', 'Failed']),
    attempt: z.int().min(0).optional(),
    startTime: instant.optional(),
    completionTime: instant.optional(),
    result: Result.optional(),
    deliveries: named(named(z.looseObject({ attempts: z.int().min(0), at: instant, state: z.enum(['open', 'ok', 'failed']) }))).optional(),
    conditions: z
      .array(z.looseObject({ type: text(64), status: text(64) }))
      .max(64)
      .optional(),
  }),
})

/** Reads the text of an archived record; undefined for other texts. */
export function parseArchived(line: string): Whole<Screenshot> | undefined {
  const value = parseStoredJson(line)
  const { success, data } = Archived.safeParse(value)
  if (!success || data.id !== screenshotIdOf(data.metadata)) return undefined
  // Returns the parsed JSON instead of zod's output, so that the fields keep their order.
  const { metadata, spec, status } = value as Whole<Screenshot>
  return { metadata, spec, ...(status ? { status } : {}) }
}

/** Reads the record of a key, or returns why it counts as absent. The account of the result is that of the key. */
export function readArchived(line: string, { account, id }: RecordPlace, now: Date): Screenshot | IgnoreReason {
  if (isFuture(createdAtOf(id), now)) return 'time'
  const record = parseArchived(line)
  if (!record) return 'content'
  const { metadata, spec, status } = record
  if (screenshotIdOf(metadata) !== id) return 'id'
  if ((spec.accountName ?? DEFAULT_ACCOUNT) !== account) return 'account'
  const times = [status?.startTime, status?.completionTime].filter((time) => time !== undefined)
  if (times.some((time) => isFuture(new Date(time), now))) return 'time'
  return { metadata, spec: { ...spec, accountName: account }, status: status! }
}
