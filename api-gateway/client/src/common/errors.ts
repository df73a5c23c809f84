import { CAPTURE_REMEDIES, RESPONSE_REMEDIES } from '../generated/remedies.ts'
import type { CaptureErrorCode, Problem, ResponseErrorCode, Screenshot, Video } from './types.ts'

/** Error codes of the client itself. */
export type ClientErrorCode =
  | 'CONNECTION_FAILED'
  | 'REQUEST_TIMEOUT'
  | 'WAIT_TIMEOUT'
  | 'INVALID_RESPONSE'
  | 'INVALID_CONFIGURATION'
  | 'FILE_NOT_AVAILABLE'
  | 'WEBHOOK_NOT_VERIFIED'
  | 'INVALID_EVENT'

/** A code of the API or of the client. A newer service may send codes that this version of the client does not list. */
export type ErrorCode = ResponseErrorCode | ClientErrorCode | (string & {})

export interface TintypeErrorFields {
  code: ErrorCode
  status?: number | undefined
  details?: readonly Problem[] | Readonly<Record<string, unknown>> | undefined
  requestId?: string | undefined
  retryAfterSeconds?: number | undefined
  cause?: unknown
}

/** Every error of this client, except for aborted calls, which reject with the reason of their signal. */
export class TintypeError extends Error {
  override name = 'TintypeError'
  /** For programs: a code of the API, such as `RATE_LIMIT_EXCEEDED`, or of the client, such as `CONNECTION_FAILED`. */
  readonly code: ErrorCode
  /** HTTP status. Undefined if no response came. */
  readonly status: number | undefined
  /** All problems of a rejected request, or facts about the error. */
  readonly details: readonly Problem[] | Readonly<Record<string, unknown>> | undefined
  /** Id of the request. Send it to an administrator of the service when you report a problem. */
  readonly requestId: string | undefined
  /** Seconds until the same request may succeed. */
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, { code, status, details, requestId, retryAfterSeconds, cause }: TintypeErrorFields) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.details = details
    this.requestId = requestId
    this.retryAfterSeconds = retryAfterSeconds
  }

  /** The problems of a rejected request. Empty if `details` has no list of problems. */
  get problems(): readonly Problem[] {
    return Array.isArray(this.details) ? (this.details as readonly Problem[]) : []
  }
}

/** A capture ended without a picture. */
export class CaptureFailedError extends TintypeError {
  override name = 'CaptureFailedError'
  /** The record, with the reason in `screenshot.error`. */
  readonly screenshot: Screenshot | Video
  /** Why the capture failed, such as `DNS_FAILED`. */
  readonly captureCode: CaptureErrorCode | undefined

  constructor(screenshot: Screenshot | Video) {
    const { code, message } = screenshot.error ?? {}
    const reason = code === undefined ? 'the capture failed' : `the capture failed with ${code}: ${message}`
    super(joinSentences(reason, code && CAPTURE_REMEDIES[code]), {
      code: 'CAPTURE_FAILED',
      details: { id: screenshot.id, ...screenshot.error },
    })
    this.screenshot = screenshot
    this.captureCode = code
  }
}

/** `problem` with a full stop, then the remedy. */
export function joinSentences(problem: string, remedy: string | undefined): string {
  if (remedy === undefined || problem.includes(remedy)) return problem
  return `${/[.!?]$/.test(problem) ? problem : `${problem}.`} ${remedy}`
}

/** Why a capture failed, and what to do. */
export const toFailureMessage = ({ code, message }: { code: string; message: string }): string =>
  joinSentences(`${code}: ${message}`, CAPTURE_REMEDIES[code])

/** Names at most this many problems in a message. All of them are in `details`. */
const MAX_NAMED = 3

/** The message of a response error: what is wrong, then what to do. */
export function toMessage(code: string, message: string, details: TintypeErrorFields['details']): string {
  const problems = Array.isArray(details) ? (details as readonly Problem[]).map((problem) => problem.message) : []
  if (problems.length === 0) return joinSentences(message, RESPONSE_REMEDIES[code])
  const more = problems.length > MAX_NAMED ? [`and ${problems.length - MAX_NAMED} more, see details`] : []
  const named = [...problems.slice(0, MAX_NAMED), ...more].join('; ')
  return problems.length === 1
    ? joinSentences(named, code === 'VALIDATION_ERROR' ? undefined : RESPONSE_REMEDIES[code])
    : `${message}: ${named}`
}
