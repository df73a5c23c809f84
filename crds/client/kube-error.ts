/** The body of a refusal (`kind: Status`), as far as the client reads it. */
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
 * What the API server refused, or that it did not answer.
 * `status` is the HTTP status, 0 without an answer. `reason` is that of the Status body; without an answer it is `Refused` (certainly not
 * carried out), `TimedOut` or `Unreachable` (perhaps carried out).
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

/** The error of an HTTP answer; `text` is its body, which proxies in between may have replaced by anything. */
export function toKubeError(status: number, text: string, retryAfter: string | undefined): KubeError {
  const body = parseStatus(text)
  const seconds = Number(retryAfter ?? body?.details?.retryAfterSeconds ?? Number.NaN)
  return new KubeError({
    status,
    reason: body?.reason ?? 'Unknown',
    message: body?.message ?? `the API server answered ${status}: ${text.slice(0, 200)}`,
    retryAfterSeconds: Number.isFinite(seconds) ? seconds : undefined,
    details: body?.details,
  })
}

function parseStatus(text: string): StatusBody | undefined {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? body : undefined
  } catch {
    return undefined
  }
}

const isStatus = (error: unknown, status: number): error is KubeError => error instanceof KubeError && error.status === status

/** Someone else wrote the object first (409): read it again and decide anew. */
export const isConflict = (error: unknown): error is KubeError => isStatus(error, 409) && error.reason !== 'AlreadyExists'

/** An object of that name exists (409 `AlreadyExists`). */
export const isAlreadyExists = (error: unknown): error is KubeError => isStatus(error, 409) && error.reason === 'AlreadyExists'

/** There is no such object, or no such kind (404). */
export const isNotFound = (error: unknown): error is KubeError => isStatus(error, 404)

/** The resourceVersion asked for is compacted away (410): only a new list helps. */
export const isGone = (error: unknown): error is KubeError => isStatus(error, 410)

/** The object is against its schema, or a `test` of a JSON patch failed (422). */
export const isInvalid = (error: unknown): error is KubeError => isStatus(error, 422)

/**
 * A JSON patch did not apply, most often because a `test` failed (422): the object has moved on. What a schema, a rule or an admission policy
 * refuses is 422 too, but says what (`details.causes`).
 */
export const isPatchFailed = (error: unknown): error is KubeError => isInvalid(error) && causesOf(error).length === 0

/** The API server does not know who we are. */
export const isUnauthorized = (error: unknown): error is KubeError => isStatus(error, 401)

/** RBAC, an admission policy or a quota refuses (403). */
export const isForbidden = (error: unknown): error is KubeError => isStatus(error, 403)

/** No answer came: the request may or may not have been carried out. */
export const isUnreachable = (error: unknown): error is KubeError => isStatus(error, 0)

/** The same request may succeed later: no answer, 429 or 5xx. */
export const isTransient = (error: unknown): error is KubeError =>
  error instanceof KubeError && (error.status === 0 || error.status === 429 || error.status >= 500)

/** The API server does not know a version as new as ours: its store was restored or rebuilt, or its cache lags for long. */
export const isVersionTooLarge = (error: unknown): boolean =>
  error instanceof KubeError && causesOf(error).some(({ reason }) => reason === 'ResourceVersionTooLarge')

function causesOf({ details }: KubeError): { reason?: string }[] {
  const causes = (details as { causes?: { reason?: string }[] } | undefined)?.causes
  return Array.isArray(causes) ? causes : []
}
