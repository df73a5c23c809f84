import { HTTP_ERRORS, PROBLEM_CODES } from '@tintype/crds/schema/errors'
import { z } from 'zod'
import { name } from './naming.ts'

export const Problem = name(
  'Problem',
  z
    .object({
      path: z.string().describe('Where: `options.image_quality`, `urls[3]`; empty for the whole body.'),
      code: z.enum(Object.keys(PROBLEM_CODES) as [string, ...string[]]).describe('Which fault, for programs.'),
      message: z.string().describe('What to do, for people. Never repeats the value.'),
    })
    .describe('One fault of a request.'),
)

/** Every refusal . */
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
          .describe('All faults of the request at once, or facts about the refusal.'),
        request_id: z.string().optional().describe('As in X-Request-Id.'),
      }),
    })
    .describe('Why a request was refused.'),
)
