import { EVENT_DOWNLOAD_SECONDS, expiryOf, signLink } from '../crypto/download-link.ts'
import type { KeyRing } from '../crypto/key-ring.ts'
import { createdAtOf, derivedId, screenshotIdOf } from '../identifiers/ids.ts'
import type { Screenshot } from '../kinds/screenshot.ts'
import { isMoving } from '../options/output/formats.ts'
import { type ScreenshotRecord, toRecord } from '../records/record.ts'
import { type EventSubject, type EventType, isCreationEvent, subjectOf } from '../schema/event-types.ts'

/** The body of a post to an endpoint. */
export interface Envelope {
  id: string
  type: EventType
  created_at: string
  data: EventData
}

/** The record of the event: `screenshot`, or for a video `video`. */
export type EventData = { screenshot: ScreenshotRecord } | { video: ScreenshotRecord }

/** The record in the data of an event. */
export const recordIn = <T>(data: { screenshot: T } | { video: T }): T => ('video' in data ? data.video : data.screenshot)

/** Whether a Screenshot object is a screenshot or a video. */
export const eventSubjectOf = ({ spec }: Pick<Screenshot, 'spec'>): EventSubject =>
  isMoving(spec.options?.format) ? 'video' : 'screenshot'

export interface LinkBase {
  /** Public URL of the gateway, without a trailing slash; empty: links are paths. */
  publicUrl: string
  ring: KeyRing
}

/** Time of an event: the creation, or the completion of the capture. */
export function eventTimeOf(screenshot: Screenshot, type: EventType): Date {
  const created = createdAtOf(screenshotIdOf(screenshot.metadata))
  const ended = screenshot.status?.completionTime
  return isCreationEvent(type) || ended === undefined ? created : new Date(ended)
}

/** Id of an event. It is the same after a restart. */
export const eventIdOf = (screenshot: Screenshot, type: EventType): string =>
  derivedId('evt', eventTimeOf(screenshot, type), `${screenshot.metadata.uid}/${type}`)

/**
 * Builds the event of a Screenshot. The result depends only on the object and the type, so that every attempt and every leader posts the same id
 * and bytes. In an event of the creation, the status is always pending.
 */
export function buildEvent(screenshot: Screenshot, type: EventType, { publicUrl, ring }: LinkBase): Envelope {
  const at = eventTimeOf(screenshot, type)
  const expires = expiryOf(at, EVENT_DOWNLOAD_SECONDS)
  const attachment = screenshot.spec.attachmentName
  const reported: Screenshot = isCreationEvent(type) ? { metadata: screenshot.metadata, spec: screenshot.spec } : screenshot
  const record = toRecord(reported, (key) => ({ url: publicUrl + signLink({ key, expires, attachment }, ring), expires }))
  const data = subjectOf(type) === 'video' ? { video: record } : { screenshot: record }
  return { id: eventIdOf(screenshot, type), type, created_at: at.toISOString(), data }
}
