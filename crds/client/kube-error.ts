import { parseJson } from '../src/text/json.ts'

/** The part of an error body (`kind: Status`) that the client reads. */
export type StatusBody = {
  reason?: string
  message?: string
  code?: number
  details?: { retryAfterSeconds?: number; [field: string]: unknown }
}

type KubeErrorFields = {
  status: number
  reason: string
  message: string
  retryAfterSeconds?: number | undefined
  details?: unknown
  cause?: unknown
}

/**
 * The API server refused a request or did not respond.
 * `status` is the HTTP status, or 0 without a response. `reason` is that of the Status body. Without a response it is `Refused` (not
 * executed), `TimedOut` or `Unreachable` (possibly executed).
 */
export class KubeError extends Error {
  override readonly name = 'KubeError'
  readonly status: number
  readonly reason: string
  readonly retryAfterSeconds: number | undefined
  readonly details: unknown

  constructor({ status, reason, message, retryAfterSeconds, details, cause }: KubeErrorFields) {
    super(message, { cause })
    this.status = status
    this.reason = reason
    this.retryAfterSeconds = retryAfterSeconds
    this.details = details
  }
}

/** Creates the error of an HTTP response. `text` is the body, which may come from a proxy instead of the API server. */
export function toKubeError(status: number, text: string, retryAfter: string | undefined): KubeError {
  const body = parseStatus(text)
  const seconds = Number(retryAfter ?? body?.details?.retryAfterSeconds ?? Number.NaN)
  return new KubeError({
    status,
    reason: body?.reason ?? 'Unknown',
    message: body?.message ?? `the API server responded with ${status}: ${text.slice(0, 200)}`,
    retryAfterSeconds: Number.isFinite(seconds) ? seconds : undefined,
    details: body?.details,
  })
}

function parseStatus(text: string): StatusBody | undefined {
  const body = parseJson(text)
  return typeof body === 'object' && body !== null ? body : undefined
}

const isStatus = (error: unknown, status: number): error is KubeError => error instanceof KubeError && error.status === status

/** Another client changed the object first (409): read it again and retry. */
export const isConflict = (error: unknown): error is KubeError => isStatus(error, 409) && error.reason !== 'AlreadyExists'

/** An object with the name exists (409 `AlreadyExists`). */
export const isAlreadyExists = (error: unknown): error is KubeError => isStatus(error, 409) && error.reason === 'AlreadyExists'

/** The object or its kind does not exist (404). */
export const isNotFound = (error: unknown): error is KubeError => isStatus(error, 404)

/** The resourceVersion has expired (410): list again. */
export const isGone = (error: unknown): error is KubeError => isStatus(error, 410)

/** The object violates its schema, or a `test` of a JSON patch failed (422). */
export const isInvalid = (error: unknown): error is KubeError => isStatus(error, 422)

/**
 * A JSON patch did not apply, usually because a `test` failed (422): the object has changed. Violations of a schema, a rule or an admission policy
 * are 422 too, but have `details.causes`.
 */
export const isPatchFailed = (error: unknown): error is KubeError => isInvalid(error) && causesOf(error).length === 0

/** The API server refused the credentials (401). */
export const isUnauthorized = (error: unknown): error is KubeError => isStatus(error, 401)

/** RBAC, an admission policy or a quota refused the request (403). */
export const isForbidden = (error: unknown): error is KubeError => isStatus(error, 403)

/** No response: the request may have been executed. */
export const isUnreachable = (error: unknown): error is KubeError => isStatus(error, 0)

/** A retry may succeed: no response, 429 or 5xx. */
export const isTransient = (error: unknown): error is KubeError =>
  error instanceof KubeError && (error.status === 0 || error.status === 429 || error.status >= 500)

/** The requested resourceVersion is newer than the API server's: its store was restored or rebuilt, or its cache is far behind. */
export const isVersionTooLarge = (error: unknown): boolean =>
  error instanceof KubeError && causesOf(error).some(({ reason }) => reason === 'ResourceVersionTooLarge')

function causesOf({ details }: KubeError): { reason?: string }[] {
  const causes = (details as { causes?: { reason?: string }[] } | undefined)?.causes
  return Array.isArray(causes) ? causes : []
}
