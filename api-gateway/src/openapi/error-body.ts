import { HTTP_ERRORS, PROBLEM_CODES } from '@tintype/crds/schema/errors'
import { z } from 'zod'
import { name } from '../http/named-schemas.ts'

export const Problem = name(
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
