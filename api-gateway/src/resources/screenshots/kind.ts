import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { EventSubject } from '@tintype/crds/schema/event-types'
import { eventSubjectOf } from '@tintype/crds/webhooks/events'
import { ApiError } from '../../common/errors.ts'

// A video is a Screenshot object with a moving format. Both kinds of captures share their handlers, and each has its own paths.

export interface CaptureKind {
  subject: EventSubject
  /** Path of the collection below `/api/v1`. */
  collection: '/screenshots' | '/videos'
}

export const SCREENSHOTS: CaptureKind = { subject: 'screenshot', collection: '/screenshots' }
export const VIDEOS: CaptureKind = { subject: 'video', collection: '/videos' }

const kinds: Readonly<Record<EventSubject, CaptureKind>> = { screenshot: SCREENSHOTS, video: VIDEOS }

/** The kind of a Screenshot object. */
export const kindOf = (screenshot: Pick<Screenshot, 'spec'>): CaptureKind => kinds[eventSubjectOf(screenshot)]

/** Path of a record, always with the documented prefix. */
export const pathOf = ({ collection }: CaptureKind, id: string): string => `/api/v1${collection}/${id}`

/** @throws ApiError NOT_FOUND that names the right path, if the record is of the other kind */
export function assertKind(screenshot: Screenshot, id: string, { subject }: CaptureKind): void {
  const other = kindOf(screenshot)
  if (other.subject === subject) return
  throw new ApiError('NOT_FOUND', `${subject} not found: this is the id of a ${other.subject}. Use ${other.collection}/${id}.`)
}
