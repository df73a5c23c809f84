import { createdAtOf, screenshotIdOf } from '../identifiers/ids.ts'
import { Annotation, DEFAULT_ACCOUNT } from '../identifiers/names.ts'
import type { PreviewPlaces } from '../kinds/page-notes.ts'
import type { CaptureResult, Screenshot } from '../kinds/screenshot.ts'
import { artifactsOf } from '../options/artifacts.ts'
import { type CaptureOptions, captureDefaults, isLarge, withDefaults } from '../options/catalog.ts'
import { CONTENT_TYPES, isMoving } from '../options/output/formats.ts'
import { privateOptionNames } from '../options/private.ts'
import { ConditionType, findCondition } from '../schema/conditions.ts'
import { isRetryable, JOB_ERRORS, type JobErrorCode } from '../schema/errors.ts'
import { CUT, MASK, toBeginning } from '../text/cut-text.ts'
import { renameKeys, toSnakeCase } from '../text/words.ts'
import { unitsOf } from '../usage/usage.ts'
import { isReused } from './cache.ts'
import { CAPTURE_STEPS } from './generated/capture-steps.ts'
import type { ArtifactRecord, ComparisonRecord, PageRecord, PreviewRecord, ScreenshotRecord, VideoFields } from './record-schema.ts'
import { objectKey } from './storage-keys.ts'

// The record of a screenshot that clients receive: from the gateway in responses, from the operator in events. A full record always
// has all its keys; unknown values are null.

export type { ScreenshotRecord } from './record-schema.ts'

export type WireStatus = ScreenshotRecord['status']

/**
 * Creates a link to a stored file of a screenshot, with its expiry in Unix seconds. Returns undefined if the file has expired.
 * The caller provides this function, because it has the signing keys, the base URL and the clock.
 */
export type LinkTo = (key: string, screenshot: Screenshot) => { url: string; expires: number } | undefined

/** Estimated time of a creation if the state of the queue is unknown. */
export const ESTIMATED_TIME = '10-60s'
const RANGE_TEXT = /^\d{1,6}-\d{1,6}s$/

/** The estimated time in the response to the creation. Anyone may edit an annotation, so other texts are not shown. */
function estimatedTimeOf({ annotations }: Screenshot['metadata']): string {
  const text = annotations?.[Annotation.estimatedTime] ?? ''
  return RANGE_TEXT.test(text) ? text : ESTIMATED_TIME
}

const ALWAYS_ECHOED: ReadonlySet<string> = new Set(['format', 'viewportWidth', 'viewportHeight', 'fullPage'])

/** Compares by identity first, because most of the hundred options are the default values themselves. */
const differs = (value: unknown, other: unknown): boolean => value !== other && JSON.stringify(value) !== JSON.stringify(other)

const toEchoed = (name: string, value: unknown): unknown => (typeof value === 'string' && isLarge(name) ? toBeginning(value) : value)

/**
 * The options of a record, in snake case: the four in ALWAYS_ECHOED, and those that differ from their defaults. Large options are
 * cut. Options in the bucket and private options are masked. `leftOut` has the beginnings of options that a cache leaves out.
 */
export function toEcho(
  options: CaptureOptions | undefined,
  hidden: readonly string[] = [],
  leftOut: Readonly<Record<string, string>> = {},
): Record<string, unknown> {
  const effective = withDefaults(options)
  const defaults: Record<string, unknown> = captureDefaults
  const shown = Object.entries(effective)
    .filter(([name, value]) => ALWAYS_ECHOED.has(name) || differs(value, defaults[name]))
    .map(([name, value]) => [name, toEchoed(name, value)])
  const masked = hidden.map((name) => [name, privateOptionNames.includes(name) ? MASK : CUT])
  return renameKeys({ ...Object.fromEntries(shown), ...leftOut, ...Object.fromEntries(masked) }, toSnakeCase)
}

/** False for an object of a cache that lacks an option which a record shows. */
export const showsEveryOption = ({ metadata }: Pick<Screenshot, 'metadata'>): boolean => Object.keys(metadata.leftOut ?? {}).every(isLarge)

export const toWireStatus = (phase: string | undefined): WireStatus =>
  phase === 'Completed' ? 'completed' : phase === 'Failed' ? 'failed' : 'pending'

/** The account of an object. */
export const accountOf = ({ spec }: { spec: { accountName?: string | undefined } }): string => spec.accountName ?? DEFAULT_ACCOUNT

const inMilliseconds = (time: string | undefined): string | null => (time === undefined ? null : new Date(time).toISOString())

/** The requested and stored files beside the picture. Their keys derive from the options, not from the status, which a runner can write. */
function toArtifacts(screenshot: Screenshot, id: string, linkTo: LinkTo): ArtifactRecord[] {
  const stored = screenshot.status?.result?.artifacts ?? []
  return artifactsOf(screenshot.spec.options).flatMap(({ type, extension }) => {
    const found = stored.find((artifact) => artifact.type === type)
    if (!found) return []
    const link = linkTo(objectKey(accountOf(screenshot), id, extension), screenshot)
    const { fileSizeBytes, preview } = found
    const places = type === 'preview' && preview ? { preview: toPreview(preview) } : {}
    return [{ type, download_url: link?.url ?? null, file_size_bytes: fileSizeBytes, ...places }]
  })
}

const toPreview = ({ scale, width, height, shownWidth, shownHeight, sliceCount, slices }: PreviewPlaces): PreviewRecord => ({
  ...{ scale, width, height, shown_width: shownWidth, shown_height: shownHeight, slice_count: sliceCount },
  slices: slices.map(({ offset, length, width, height, y }) => ({ offset, length, width, height, y })),
})

function toComparison(screenshot: Screenshot, artifacts: readonly ArtifactRecord[]): ComparisonRecord | null {
  const to = screenshot.spec.options?.compareTo
  const comparison = screenshot.status?.result?.comparison
  if (to === undefined || comparison === undefined) return null
  const { changed, changedRatio, changedPixels, sizeChanged, regions = [], regionCount, droppedRegions, rule, loads, skipped } = comparison
  const { engineChanged, textChanged, wordsAdded = [], wordsRemoved = [] } = comparison
  return {
    to,
    changed,
    changed_ratio: changedRatio ?? null,
    changed_pixels: changedPixels ?? null,
    size_changed: sizeChanged ?? null,
    regions: regions.map(({ x, y, width, height }) => ({ x, y, width, height })),
    region_count: regionCount ?? null,
    dropped_regions: droppedRegions ?? null,
    rule: rule ?? null,
    loads: loads ?? null,
    text_changed: textChanged ?? null,
    engine_changed: engineChanged ?? null,
    words_added: wordsAdded,
    words_removed: wordsRemoved,
    diff_url: artifacts.find(({ type }) => type === 'diff')?.download_url ?? null,
    skipped: skipped ?? null,
  }
}

function toPage(result: CaptureResult): PageRecord {
  const { width, height, page = {} } = result
  const { imageSize, timings, responseHeaders, openGraph, contentHash, blockedRequests, ...same } = page
  return {
    page_title: result.pageTitle ?? null,
    final_url: result.finalUrl ?? null,
    http_status: result.httpStatus ?? null,
    ...(result.engine ? { engine: result.engine } : {}),
    ...(result.moving?.elements.length ? { moving_elements: result.moving.elements } : {}),
    ...(imageSize && width !== undefined && height !== undefined ? { image_size: { width, height } } : {}),
    ...(responseHeaders ? { http_response_headers: responseHeaders } : {}),
    ...(openGraph ? { open_graph: openGraph } : {}),
    ...(timings ? { timings: { steps: toOrderedSteps(result.timings ?? {}), page: timings } } : {}),
    ...(contentHash ? { content_hash: contentHash } : {}),
    ...(blockedRequests === undefined ? {} : { blocked_requests: blockedRequests }),
    ...definedOf(same),
  }
}

const definedOf = <T extends object>(value: T) =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as { [K in keyof T]?: NonNullable<T[K]> }

const toVideoFields = ({ durationMilliseconds, fps, frames }: CaptureResult): VideoFields => ({
  duration_ms: durationMilliseconds ?? null,
  fps: fps ?? null,
  frames: frames ?? null,
})

/** Builds the full record. The same object and links always give the same record. */
export function toRecord(screenshot: Screenshot, linkTo: LinkTo): ScreenshotRecord {
  const { metadata, spec, status = {} } = screenshot
  const id = screenshotIdOf(metadata)
  const { format } = withDefaults(spec.options)
  const wireStatus = toWireStatus(status.phase)
  const done = wireStatus === 'completed'
  const result = wireStatus === 'pending' ? {} : (status.result ?? {})
  const storagePath = done ? objectKey(accountOf(screenshot), id, format) : null
  const link = storagePath === null ? undefined : linkTo(storagePath, screenshot)
  const artifacts = done ? toArtifacts(screenshot, id, linkTo) : []
  return {
    id,
    url: spec.url,
    url_to_capture: spec.url,
    status: wireStatus,
    options: toEcho(spec.options, spec.hiddenOptions, metadata.leftOut),
    created_at: createdAtOf(id).toISOString(),
    started_at: inMilliseconds(status.startTime),
    completed_at: wireStatus === 'pending' ? null : inMilliseconds(status.completionTime),
    estimated_time: estimatedTimeOf(metadata),
    storage_path: storagePath,
    file_size_bytes: result.fileSizeBytes ?? null,
    processing_duration_ms: result.processingMilliseconds ?? null,
    width: result.width ?? null,
    height: result.height ?? null,
    ...(isMoving(format) ? toVideoFields(result) : {}),
    format,
    content_type: CONTENT_TYPES[format],
    download_url: link?.url ?? null,
    download_url_expires_at: link === undefined ? null : new Date(link.expires * 1000).toISOString(),
    artifacts,
    error: wireStatus === 'failed' ? (result.error ?? { code: 'INTERNAL_ERROR', message: 'the capture failed' }) : null,
    batch_id: spec.batchId ?? null,
    schedule_id: spec.scheduleRef?.id ?? null,
    external_identifier: spec.externalIdentifier ?? null,
    metadata: done ? toPage(result) : null,
    comparison: done ? toComparison(screenshot, artifacts) : null,
    warnings: result.warnings ?? [],
    truncated: result.truncated ?? false,
    cached: isReused(screenshot),
    attempts: status.attempt ?? 0,
    cost: costOf(screenshot),
  }
}

/** The API server sorts maps by name, so a status does not have the order of the steps. A step that runs at one of two places has the first. */
const PLACES = new Map(CAPTURE_STEPS.map((name, place) => [name, place]))

/** Durations of steps in the order of the capture, by the names of the REST API. Steps of another version come last. */
export const toOrderedSteps = (timings: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(timings)
      .sort(([a], [b]) => (PLACES.get(a) ?? PLACES.size) - (PLACES.get(b) ?? PLACES.size))
      .map(([name, milliseconds]) => [toSnakeCase(name), milliseconds]),
  )

// What a screenshot costs its account in the end. The operator refunds by these rules, and the record shows the result.

/** A failed capture that used a runner for longer keeps its charge: otherwise, pages that never end would use all runners for nothing. */
const LONG_CAPTURE_MILLISECONDS = 60_000

/** Failures that are never charged. */
const UNCHARGED: ReadonlySet<string> = new Set(['USAGE_LIMIT_REACHED', 'ACCOUNT_SUSPENDED'] satisfies JobErrorCode[])

type Shot = Pick<Screenshot, 'spec' | 'status'>

/** True for a failed capture whose unit of quota is refunded. */
export function isFree({ status }: Pick<Screenshot, 'status'>): boolean {
  const code = status?.result?.error?.code
  if (status?.phase !== 'Failed' || code === undefined || UNCHARGED.has(code) || code === 'CANCELLED') return false
  return !isCausedByPage(code) || usedMilliseconds({ status }) <= LONG_CAPTURE_MILLISECONDS
}

/** False for failures of the service, and for codes of other versions. */
const isCausedByPage = (code: string): boolean => Object.hasOwn(JOB_ERRORS, code) && !isRetryable(code as JobErrorCode)

/** How long the last attempt used its runner. The operator's own failures have no duration, only times. */
function usedMilliseconds({ status }: Pick<Screenshot, 'status'>): number {
  const { startTime, completionTime, attempt = 0, result } = status ?? {}
  if (attempt === 0 || startTime === undefined || completionTime === undefined) return 0
  return result?.processingMilliseconds ?? Date.parse(completionTime) - Date.parse(startTime)
}

/** Units of quota that a screenshot costs. A failed one costs nothing, unless its page used a runner for over a minute. */
export function costOf(shot: Shot): number {
  const isRefunded = findCondition(shot.status?.conditions, ConditionType.refunded)?.status === 'True'
  if (isRefunded || isReused(shot) || isFree(shot) || UNCHARGED.has(shot.status?.result?.error?.code ?? '')) return 0
  return unitsOf(shot.spec)
}
