import { HTTP_ERRORS, type HttpErrorCode, type ProblemCode } from '@tintype/crds/errors'

/** One fault in a request: where (`options.image_quality`, `urls[3]`; empty for the whole body), which, and what to do. Never the value. */
export interface Problem {
  path: string
  code: ProblemCode
  message: string
}

interface ApiErrorOptions {
  /** Goes out as `error.details`: problems of the request, or facts about the refusal. */
  details?: readonly Problem[] | Readonly<Record<string, unknown>> | undefined
  headers?: Readonly<Record<string, string>> | undefined
  cause?: unknown
}

/** What the gateway answers instead of a result. The status belongs to the code (crds/src/errors.ts). */
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

/** A request with faults in it: all of them at once. */
export const invalid = (problems: readonly Problem[]): ApiError =>
  new ApiError('VALIDATION_ERROR', problems.length === 1 ? problems[0]!.message : `the request has ${problems.length} problems`, {
    details: problems,
  })

/** The same answer for an unknown id, a malformed one and another account's: nobody learns which ids exist. */
export const notFound = (what: string): ApiError => new ApiError('NOT_FOUND', `there is no such ${what}`)

/** Something that the gateway needs is away for a while. */
export const unavailable = (message: string, cause?: unknown): ApiError => new ApiError('SERVICE_UNAVAILABLE', message, { cause })

/** How an error goes out. */
export interface HttpError {
  status: number
  code: HttpErrorCode
  message: string
  details?: ApiErrorOptions['details']
  headers: Readonly<Record<string, string>>
}

const RETRY_SECONDS = '2'

/** Fastify's own refusals; whatever is not here and not an ApiError is a bug of ours. */
const FRAMEWORK_ERRORS: Readonly<Record<string, { code: HttpErrorCode; message: string }>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'PAYLOAD_TOO_LARGE', message: 'the body is larger than 4 MiB' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { code: 'UNSUPPORTED_MEDIA_TYPE', message: 'the body must be JSON (Content-Type: application/json)' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { code: 'VALIDATION_ERROR', message: 'the body is not as long as Content-Length says' },
  FST_ERR_BAD_URL: { code: 'VALIDATION_ERROR', message: 'the path is not a legal URL path' },
}

/** Classifies any error by code, never by text; the text of what is not ours never leaves the process. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof ApiError) {
    const { code, message, details } = error
    const { status } = HTTP_ERRORS[code]
    const headers = status === 503 ? { 'retry-after': RETRY_SECONDS, ...error.headers } : error.headers
    return { status, code, message, headers, ...(details === undefined ? {} : { details }) }
  }
  const known = FRAMEWORK_ERRORS[(error as { code?: string } | undefined)?.code ?? '']
  if (known) return { ...known, status: HTTP_ERRORS[known.code].status, headers: {} }
  return { status: 500, code: 'INTERNAL_ERROR', message: 'something went wrong here', headers: {} }
}

/** The body of every refusal (spec 7). */
export const toErrorBody = ({ code, message, details }: Pick<HttpError, 'code' | 'message' | 'details'>, requestId: string) => ({
  success: false,
  error: { message, code, ...(details === undefined ? {} : { details }), request_id: requestId },
})
