import { CaptureError, recordFields, ScreenshotRecordSchema, VideoRecordSchema } from '@tintype/crds/records/record-schema'
import { count } from '@tintype/crds/schema/fields'
import { z } from 'zod'
import { listBody, name } from '../../http/fields.ts'

name('CaptureError', CaptureError)
/** The full record of a screenshot, in responses to GET, lists and events. */
export const ScreenshotRecord = name('Screenshot', ScreenshotRecordSchema)
/** The full record of a video. */
export const VideoRecord = name('Video', VideoRecordSchema)

/** Response to the deletion of a screenshot or video. */
export const DELETED_CAPTURE =
  'Deleted. Caches of other replicas can still show the record for about a second. A read with `Cache-Control: no-cache` does not use them.'

const { id, url, options, created_at, estimated_time } = recordFields
/** Fields of the response to a create. */
export const createdFields = { id, url, status: z.literal('pending'), options, created_at, estimated_time }

/** The response to a create. */
export const CreatedScreenshot = name('CreatedScreenshot', z.object(createdFields).describe('An accepted screenshot.'))
export const CreatedVideo = name('CreatedVideo', z.object(createdFields).describe('An accepted video.'))

const pagination = z.object({
  limit: count('Records per page.'),
  offset: count('Records skipped.'),
  has_more: z.boolean().describe('True when there are more pages.'),
  next_cursor: z.string().nullable().describe('`cursor` of the next page.'),
})

export const ScreenshotList = listBody('ScreenshotList', ScreenshotRecord, pagination, 'One page of screenshots.')
export const VideoList = listBody('VideoList', VideoRecord, pagination, 'One page of videos.')
