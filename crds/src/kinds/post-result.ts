import { z } from 'zod'
import { Annotation } from '../identifiers/names.ts'
import { instant } from '../schema/custom-resource.ts'

// What a Webhook's status tells of posts that were asked for (webhook-requests.ts).

/** What came of a post that was asked for. */
export const PostAnswer = z.object({
  time: instant('When the post ended.'),
  success: z.boolean().describe('True for a 2xx answer in time.'),
  statusCode: z.int().min(0).max(999).describe('HTTP status of the answer; 0 when there was none.'),
  responseMilliseconds: z.int().min(0).describe('Milliseconds until the answer, or until it was given up.'),
  error: z.string().max(256).describe('Why it failed, at most 256 characters.').optional(),
})
export type PostAnswer = z.infer<typeof PostAnswer>

/** Longest text of {@link Annotation.testRequested} that is told apart. */
export const MAX_REQUEST_TEXT = 64

/** What came of a test that a person asked for. */
export const TestByHand = PostAnswer.extend({
  request: z.string().max(MAX_REQUEST_TEXT).describe(`Text of the annotation ${Annotation.testRequested} that it answers.`),
})
export type TestByHand = z.infer<typeof TestByHand>

/** Requests of one Webhook that are looked at; askers keep well below. */
export const MAX_REQUESTS = 64
