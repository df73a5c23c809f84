import { HTTP_ERRORS, type HttpErrorCode, type ProblemCode } from '@tintype/crds/schema/errors'

/** One problem in a request. `path` is a field such as `options.image_quality` or `urls[3]`, or empty for the body. Never contains the value. */
export interface Problem {
  path: string
  code: ProblemCode
  message: string
}

interface ApiErrorOptions {
  /** Sent as `error.details`: problems of the request, or facts about the error. */
  details?: readonly Problem[] | Readonly<Record<string, unknown>> | undefined
  headers?: Readonly<Record<string, string>> | undefined
  cause?: unknown
}

/** An error response. The HTTP status follows from the code (crds/src/schema/errors.ts). */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: HttpErrorCode
  readonly details: ApiErrorOptions['details']
  readonly headers: Readonly<Record<string, string>>

  constructor(code: HttpErrorCode, message: string, { details, headers = {}, cause }: ApiErrorOptions = {}) {
    super(message, { cause })
    this.code = code
    this.details = details
    this.headers = headers
  }
}

/** A VALIDATION_ERROR that lists all problems of a request. A URL that is not allowed has its own code if it is the only problem. */
export function invalid(problems: readonly Problem[]): ApiError {
  const only = problems.length === 1 ? problems[0] : undefined
  const code = only?.code === 'url_not_allowed' ? 'URL_NOT_ALLOWED' : 'VALIDATION_ERROR'
  return new ApiError(code, only?.message ?? `the request has ${problems.length} problems`, { details: problems })
}

/** The same error for unknown ids, malformed ids and ids of other accounts, so that clients cannot find out which ids exist. */
export const notFound = (what: string): ApiError => new ApiError('NOT_FOUND', `${what} not found`)

/** A dependency of the gateway is temporarily unavailable. */
export const unavailable = (message: string, cause?: unknown): ApiError => new ApiError('SERVICE_UNAVAILABLE', message, { cause })

export const isUnavailable = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE'

/** True for an error which says that nothing was done. After any other error the work may have been done, or may still be. */
export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && (HTTP_ERRORS[error.code].status < 500 || error.code === 'QUEUE_FULL')

/** An error as it is sent. */
export interface HttpError {
  status: number
  code: HttpErrorCode
  message: string
  details?: ApiErrorOptions['details']
  headers: Readonly<Record<string, string>>
}

const RETRY_SECONDS = '2'

/** Errors of Fastify itself. Any other error that is not an ApiError is a bug. */
const FRAMEWORK_ERRORS: Readonly<Record<string, { code: HttpErrorCode; message: string }>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { code: 'UNSUPPORTED_MEDIA_TYPE', message: 'the body must be JSON (Content-Type: application/json)' },
  FST_ERR_MAX_PARAM_LENGTH: { code: 'NOT_FOUND', message: 'No record has an id of more than 100 characters.' },
  FST_ERR_BAD_URL: { code: 'VALIDATION_ERROR', message: 'the URL path is invalid' },
}

/** Maps any error to a response by its code. Messages of unknown errors are never sent. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof ApiError) {
    const { code, message, details } = error
    const { status } = HTTP_ERRORS[code]
    const headers = status === 503 ? { 'retry-after': RETRY_SECONDS, ...error.headers } : error.headers
    return { status, code, message, headers, ...(details === undefined ? {} : { details }) }
  }
  const known = FRAMEWORK_ERRORS[(error as { code?: string } | undefined)?.code ?? '']
  if (known) return { ...known, status: HTTP_ERRORS[known.code].status, headers: {} }
  return {
    status: 500,
    code: 'INTERNAL_ERROR',
    message: 'internal error: contact an administrator of this service with the request id',
    headers: {},
  }
}

/** The body of every error response. */
export const toErrorBody = ({ code, message, details }: Pick<HttpError, 'code' | 'message' | 'details'>, requestId: string) => ({
  success: false,
  error: { message, code, ...(details === undefined ? {} : { details }), request_id: requestId },
})
