import type { PostAnswer } from '@tintype/crds/post-answer'
import { z } from 'zod'
import { instantField } from './fields.ts'

/** What came of a test event (spec 2.6). */
export const WebhookTestResult = z.object({
  success: z.boolean().describe('True when the endpoint answered 2xx in time.'),
  message: z.string(),
  status_code: z.int().min(0).describe('HTTP status of the endpoint; 0 when it gave no answer.'),
  response_time_ms: z.int().min(0),
  error: z.string().nullable().describe('Why it failed.'),
  timestamp: instantField,
})
export type WebhookTestResult = z.infer<typeof WebhookTestResult>

/** The operator's answer as the wire has it. */
export const toTestResult = ({ success, statusCode, responseMilliseconds, error, time }: PostAnswer): WebhookTestResult => ({
  success,
  message: success ? 'The endpoint took the test event' : 'The endpoint did not take the test event',
  status_code: statusCode,
  response_time_ms: responseMilliseconds,
  error: success ? null : (error ?? 'the test failed'),
  timestamp: new Date(time).toISOString(),
})
