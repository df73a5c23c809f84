import { createHash } from 'node:crypto'
import { z } from 'zod'
import { createdAtOf, isScreenshotId, screenshotIdOf } from '../identifiers/ids.ts'
import { DEFAULT_ACCOUNT } from '../identifiers/names.ts'
import { PreviewPlaces } from '../kinds/page-notes.ts'
import type { Screenshot } from '../kinds/screenshot.ts'
import { FileFormat, ThumbnailFormat } from '../options/output/formats.ts'
import type { Whole } from '../schema/custom-resource.ts'
import { type IgnoreReason, isFuture, parseStoredJson } from './ignored-objects.ts'
import { dayOf, MAX_SEGMENT_RECORDS, type RecordPlace, type SegmentName, segmentKey } from './storage-keys.ts'

// Archived records, which the Kubernetes API no longer has. Each record is one JSON text. The bucket stores it twice: in its own object for reads
// by id, and as a line of a segment for lists. A segment contains records of one account and one day, sorted by id, which is newest first.
// A record may be in several segments, so readers merge by id. Segments are immutable and are replaced by new ones.

/** Maximum bytes of one segment, unless a single record is larger. */
const MAX_SEGMENT_BYTES = 4 * 1024 * 1024

const KEPT_ANNOTATIONS = /^tintype\.dev\//

/** Deliveries that are still open: the archive continues with them. */
function openOnly(deliveries: NonNullable<Screenshot['status']>['deliveries'] = {}) {
  const open = Object.entries(deliveries).flatMap(([event, entries]) => {
    const kept = Object.entries(entries).filter(([, { state }]) => state === 'open')
    return kept.length > 0 ? [[event, Object.fromEntries(kept)] as const] : []
  })
  return open.length > 0 ? { deliveries: Object.fromEntries(open) } : {}
}

/** Converts a record to one line of text, without its ended deliveries and the fields that only its capture needs. */
export function toArchivedLine({ metadata, spec, status = {} }: Whole<Screenshot>): string {
  const { name, namespace, uid, resourceVersion, creationTimestamp, annotations = {} } = metadata
  const kept = Object.entries(annotations).filter(([key]) => KEPT_ANNOTATIONS.test(key))
  const { sealedOptions: _, optionsObject: __, baseline: _baseline, ...shown } = spec
  const { deliveries, runner: ___, ...seen } = status
  return JSON.stringify({
    // The first field, with a fixed length, so that readers can find the ids of a segment without parsing its lines.
    id: screenshotIdOf(metadata),
    v: FORMAT_VERSION,
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp,
      ...(kept.length > 0 ? { annotations: Object.fromEntries(kept) } : {}),
    },
    spec: shown,
    status: { ...seen, ...openOnly(deliveries) },
  })
}

/**
 * Reads a line of {@link toArchivedLine}.
 * @throws Error if the line is not an archived record
 */
export function parseArchivedLine(line: string): Whole<Screenshot> {
  const record = parseArchived(line)
  if (!record) throw new Error('the text is not an archived record')
  return record
}

/** A segment to write. */
export interface Segment extends SegmentName {
  text: string
}

/** An unparsed record of a segment. */
export interface Line {
  id: string
  line: string
}

/** Converts records to archived lines. */
export const toLines = (screenshots: readonly Whole<Screenshot>[]): Line[] =>
  screenshots.map((screenshot) => ({ id: screenshotIdOf(screenshot.metadata), line: toArchivedLine(screenshot) }))

/** Groups records by day into sorted segments within the limits. The same records always give the same keys and texts. */
export function toSegments(account: string, lines: readonly Line[]): Segment[] {
  const segments: Segment[] = []
  let open: Line[] = []
  let bytes = 0
  const close = (): void => {
    if (open.length > 0) segments.push(toSegment(account, open))
    open = []
    bytes = 0
  }
  for (const entry of mergeLines(lines)) {
    const size = Buffer.byteLength(entry.line) + 1
    const isOther = open[0] !== undefined && dayOf(open[0].id) !== dayOf(entry.id)
    if (isOther || open.length >= MAX_SEGMENT_RECORDS || bytes + size > MAX_SEGMENT_BYTES) close()
    open.push(entry)
    bytes += size
  }
  close()
  return segments
}

/** Sorts by id and keeps one line per id: the one with the higher resourceVersion. */
function mergeLines(lines: readonly Line[]): Line[] {
  const byId = new Map<string, Line>()
  for (const entry of lines) {
    const known = byId.get(entry.id)
    if (known === undefined || versionOf(entry) >= versionOf(known)) byId.set(entry.id, entry)
  }
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}

const versionOf = ({ line }: Line): number => Number(parseArchivedLine(line).metadata.resourceVersion)

function toSegment(account: string, lines: readonly Line[]): Segment {
  const first = lines[0]!.id
  const last = lines.at(-1)!.id
  const count = lines.length
  const text = lines.map(({ line }) => `${line}\n`).join('')
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 12)
  const key = segmentKey(account, { first, last, count }, digest)
  return { key, first, last, count, text }
}

const ID_START = '{"id":"'.length
const ID_END = ID_START + 'scr_'.length + 26

/** The lines of a segment with their ids. */
export function readSegment(text: string): Line[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ id: line.slice(ID_START, ID_END), line }))
}

/** Reads the lines of a segment whose ids are in ascending order and in the range of its key. */
export function readLines({ first, last }: Pick<SegmentName, 'first' | 'last'>, text: string): Line[] {
  const kept: Line[] = []
  for (const line of readSegment(text)) {
    const isBeyond = line.id > (kept.at(-1)?.id ?? '')
    if (isScreenshotId(line.id) && isBeyond && line.id >= first && line.id <= last) kept.push(line)
  }
  return kept
}

// The fields of an archived record that readers use. The schema is loose, so that a record stays readable when a later version adds or removes
// fields. Its limits are wider than those of the CRD, unknown fields are kept, and only options that determine file names are checked.

const FORMAT_VERSION = 1

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
    .array(z.looseObject({ type: text(64), fileSizeBytes: z.int().min(0), etag: text(256), preview: PreviewPlaces.optional() }))
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
function parseArchived(line: string): Whole<Screenshot> | undefined {
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
