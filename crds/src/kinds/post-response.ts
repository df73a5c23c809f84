import { z } from 'zod'
import { Annotation } from '../identifiers/names.ts'
import { instant } from '../schema/custom-resource.ts'

// What a Webhook's status reports about requested posts (webhook-requests.ts).

/** The outcome of a requested post. */
export const PostResponse = z.object({
  time: instant('When the post ended.'),
  success: z.boolean().describe('True for a 2xx response before the timeout.'),
  statusCode: z.int().min(0).max(999).describe('HTTP status of the response; 0 if there was none.'),
  responseMilliseconds: z.int().min(0).describe('Milliseconds until the response, or until the timeout.'),
  error: z.string().max(256).describe('Why the post failed, at most 256 characters.').optional(),
})
export type PostResponse = z.infer<typeof PostResponse>

/** Characters of {@link Annotation.testRequested} that are compared. */
export const MAX_REQUEST_TEXT = 64

/** The outcome of a test that a person requested. */
export const ManualTest = PostResponse.extend({
  request: z.string().max(MAX_REQUEST_TEXT).describe(`Text of the annotation ${Annotation.testRequested} that requested the test.`),
})
export type ManualTest = z.infer<typeof ManualTest>

/** Maximum requests of one Webhook that are read. Requesters create far fewer. */
export const MAX_REQUESTS = 64
