import type { StoredArtifact } from '@tintype/crds/kinds/page-notes'
import type { CaptureResult } from '@tintype/crds/kinds/screenshot'
import type { FileFormat } from '@tintype/crds/options/output/formats'
import { type Condition, ConditionType, Reason, setCondition, toReason } from '@tintype/crds/schema/conditions'
import { cutText } from '@tintype/crds/text/cut-text'
import { PAGE_FRAME, toIgnored } from '../comparison/boxes.ts'
import type { CaptureError } from '../runtime/errors.ts'
import type { Findings } from '../steps/step.ts'

// Builds the status of a finished attempt. Pure functions.

/** Response of the storage. */
export interface Stored {
  etag: string
  fileSizeBytes: number
}

/** Durations of an attempt, successful or not. */
export interface Durations {
  /** From accepting the order to the stored file or the failure. */
  processingMilliseconds: number
  /** Milliseconds of each step. */
  timings: Readonly<Record<string, number>>
}

/** A stored screenshot. */
export interface Success {
  format: FileFormat
  /** Absent for a PDF. */
  width?: number
  height?: number
  /** Absent for a screenshot. */
  video?: { frames: number; fps: number }
  stored: Stored
  artifacts?: readonly StoredArtifact[]
  findings: Omit<Findings, 'files' | 'page'> & Partial<Pick<Findings, 'page'>>
}

/** The result of an attempt. */
export interface Outcome {
  phase: 'Completed' | 'Failed'
  result: CaptureResult
  conditions: Condition[]
}

const MAX_WARNINGS = 16
const MAX_WARNING_LENGTH = 256
const MAX_MESSAGE_LENGTH = 1_024

/** Builds the outcome of an attempt that stored a screenshot. */
export function buildSuccess(success: Success, durations: Durations, now: Date): Outcome {
  const { format, width, height, video, stored, artifacts = [], findings } = success
  const { pageTitle, finalUrl, httpStatus, comparison, unfit, forms = [], engine, moving, page = {} } = findings
  const ignored = toIgnored(findings.ignoredElements ?? [], findings.frame ?? PAGE_FRAME)
  const size = toSize(stored.fileSizeBytes)
  const duration = toDuration(durations.processingMilliseconds)
  const sides = width === undefined ? [] : [`${width} × ${height}`]
  return {
    phase: 'Completed',
    result: {
      format,
      fileSizeBytes: stored.fileSizeBytes,
      etag: stored.etag,
      ...(width === undefined ? {} : { width }),
      ...(height === undefined ? {} : { height }),
      ...(video ? { durationMilliseconds: Math.round((video.frames * 1_000) / video.fps), fps: video.fps, frames: video.frames } : {}),
      truncated: findings.truncated ?? false,
      ...(pageTitle === undefined ? {} : { pageTitle }),
      ...(finalUrl === undefined ? {} : { finalUrl }),
      ...(httpStatus === undefined ? {} : { httpStatus }),
      ...(comparison === undefined ? {} : { comparison }),
      ...(ignored.length === 0 ? {} : { ignored }),
      ...(unfit === undefined ? {} : { unfit }),
      forms: [...forms],
      ...(engine ? { engine } : {}),
      ...(moving ? { moving } : {}),
      ...(Object.keys(page).length === 0 ? {} : { page }),
      ...(artifacts.length === 0 ? {} : { artifacts: [...artifacts] }),
      ...(findings.warnings.length === 0 ? {} : { warnings: toWarnings(findings.warnings) }),
      ...toResult(durations),
      size,
      duration,
    },
    conditions: conditionsOf('True', Reason.captured, [format, ...sides, size, `in ${duration}`].join(', '), now),
  }
}

/** Builds the outcome of an attempt that failed. */
export function buildFailure(error: CaptureError, durations: Durations, now: Date): Outcome {
  const message = cutText(error.message, MAX_MESSAGE_LENGTH)
  return {
    phase: 'Failed',
    result: { error: { code: error.code, message }, ...toResult(durations), duration: toDuration(durations.processingMilliseconds) },
    conditions: conditionsOf('False', toReason(error.code), message, now),
  }
}

function conditionsOf(status: 'True' | 'False', reason: string, message: string, now: Date): Condition[] {
  const succeeded = setCondition([], { type: ConditionType.succeeded, status, reason, message }, now)
  return setCondition(succeeded, { type: ConditionType.finished, status: 'True', reason, message }, now)
}

const toResult = ({ processingMilliseconds, timings }: Durations) => ({
  processingMilliseconds: Math.round(processingMilliseconds),
  timings: { ...timings },
})

const toWarnings = (warnings: readonly string[]): string[] =>
  warnings.slice(0, MAX_WARNINGS).map((warning) => cutText(warning, MAX_WARNING_LENGTH))

const UNITS = ['B', 'KiB', 'MiB', 'GiB'] as const

/** `1.4 MiB`. */
export function toSize(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10))
  const amount = bytes / 1024 ** power
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[power]}`
}

/** `820ms`, `4.2s`. */
export function toDuration(milliseconds: number): string {
  return milliseconds < 1_000 ? `${Math.round(milliseconds)}ms` : `${(milliseconds / 1_000).toFixed(1)}s`
}
