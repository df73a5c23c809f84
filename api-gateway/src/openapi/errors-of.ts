import { HTTP_ERRORS, type HttpErrorCode } from '@tintype/crds/schema/errors'
import { ifMatch } from '../http/parameters.ts'
import type { Operation } from '../http/route.ts'

const ALWAYS: readonly HttpErrorCode[] = [
  'VALIDATION_ERROR',
  'HEADERS_TOO_LARGE',
  'REQUEST_TIMEOUT',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
]
const WITH_KEY: readonly HttpErrorCode[] = [
  'UNAUTHORIZED',
  'INVALID_API_KEY',
  'INSUFFICIENT_SCOPE',
  'ACCOUNT_SUSPENDED',
  'RATE_LIMIT_EXCEEDED',
]
const WITH_BODY: readonly HttpErrorCode[] = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']
const WITH_IDEMPOTENCY_KEY: readonly HttpErrorCode[] = ['IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED']

/** All error codes of an operation, by HTTP status. */
export function errorsOf({ parameters = [], body, scope, optionalScope, isKeyed, errors = [] }: Operation): Map<number, HttpErrorCode[]> {
  const codes = new Set<HttpErrorCode>([
    ...errors,
    ...ALWAYS,
    ...((scope ?? optionalScope) === undefined ? [] : WITH_KEY),
    ...(parameters.some((parameter) => parameter.in === 'path') ? (['NOT_FOUND'] as const) : []),
    ...(parameters.includes(ifMatch) ? (['PRECONDITION_FAILED'] as const) : []),
    ...(body ? WITH_BODY : []),
    ...(isKeyed ? WITH_IDEMPOTENCY_KEY : []),
  ])
  const inOrder = (Object.keys(HTTP_ERRORS) as HttpErrorCode[]).filter((code) => codes.has(code))
  return Map.groupBy(inOrder, (code) => HTTP_ERRORS[code].status)
}
