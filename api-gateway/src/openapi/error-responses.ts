import { HTTP_ERRORS, type HttpErrorCode, PROBLEM_CODES } from '@tintype/crds/schema/errors'
import { z } from 'zod'
import { COMMON_HEADERS, type HeaderName, LIMIT_HEADERS } from '../http/headers.ts'
import { name } from '../http/named-schemas.ts'
import { refTo } from './json-schema.ts'

const Problem = name(
  'Problem',
  z
    .object({
      path: z.string().describe('Path of the field, such as `options.image_quality` or `urls[3]`. Empty for the whole body.'),
      code: z.enum(Object.keys(PROBLEM_CODES) as [string, ...string[]]).describe('Machine-readable code of the problem.'),
      message: z.string().describe('Description of the problem. Never contains the value.'),
    })
    .describe('One problem of a request.'),
)

/** The body of every error response. */
export const ErrorBody = name(
  'Error',
  z
    .object({
      success: z.literal(false),
      error: z.object({
        message: z.string().describe('For people.'),
        code: z.enum(Object.keys(HTTP_ERRORS) as [string, ...string[]]).describe('For programs.'),
        details: z
          .union([z.array(Problem), z.record(z.string(), z.unknown())])
          .optional()
          .describe('All problems of the request, or facts about the error.'),
        request_id: z.string().optional().describe('Same as the header X-Request-Id.'),
      }),
    })
    .describe('An error response.'),
)

/** Example details of error codes. The other codes have none. */
const DETAILS: Partial<Record<HttpErrorCode, unknown>> = {
  VALIDATION_ERROR: [{ path: 'options.delay', code: 'too_small', message: 'options.delay must be at least 0' }],
  URL_NOT_ALLOWED: [{ path: 'url', code: 'url_not_allowed', message: 'the URL is not public' }],
  CAPTURE_FAILED: { id: 'scr_7yztsh6vzw7j4q0n9x2c5d8e1f', code: 'TIMEOUT', message: 'the page did not load in 30000 ms' },
  RATE_LIMIT_EXCEEDED: { limit: 40, window_seconds: 60, retry_after: 12 },
  USAGE_LIMIT_REACHED: { limit: 2000, used: 2000, reset_at: '2026-12-01T00:00:00.000Z' },
}

const HEADERS_OF: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  409: ['Retry-After'],
  416: ['Content-Range'],
  429: ['Retry-After', 'X-Should-Retry'],
  503: ['Retry-After'],
}

const toExample = (code: HttpErrorCode) => ({
  summary: HTTP_ERRORS[code].remedy,
  value: {
    success: false,
    error: {
      message: HTTP_ERRORS[code].remedy,
      code,
      ...(DETAILS[code] === undefined ? {} : { details: DETAILS[code] }),
      request_id: '3f6c1d0e-8d1c-4a2b-9c57-0f8a3f1f7a10',
    },
  },
})

const toPascalCase = (code: string): string => code.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Component name such as `Error400ValidationErrorUrlNotAllowed`. Equal sets of errors share one component. */
export const nameOfErrors = (status: number, codes: readonly HttpErrorCode[]): string => `Error${status}${codes.map(toPascalCase).join('')}`

/** The response for a status with these error codes. */
export function toErrorResponse(status: number, codes: readonly HttpErrorCode[]) {
  const names = [...COMMON_HEADERS, ...(HEADERS_OF[status] ?? []), ...(status === 429 ? LIMIT_HEADERS : [])]
  return {
    description: codes.map((code) => `\`${code}\`: ${HTTP_ERRORS[code].remedy}`).join('\n\n'),
    headers: toHeaderRefs(names),
    content: {
      'application/json': {
        schema: refTo(ErrorBody),
        examples: Object.fromEntries(codes.map((code) => [code, toExample(code)])),
      },
    },
  }
}

export const toHeaderRefs = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
