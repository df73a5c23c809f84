import { z } from 'zod'
import { EVENT_DOWNLOAD_SECONDS, expiryOf, type KeyRing, signLink } from '../crypto/signatures.ts'
import { createdAtOf, derivedId, newId, screenshotIdOf } from '../identifiers/ids.ts'
import { toObjectName } from '../identifiers/names.ts'
import type { Screenshot } from '../kinds/screenshot.ts'
import { isMoving } from '../options/output/formats.ts'
import { type IgnoreReason, parseStoredJson } from '../records/ignored-objects.ts'
import { type ScreenshotRecord, toRecord } from '../records/record.ts'
import { objectKeyPrefix } from '../records/storage-keys.ts'
import { type EventSubject, type EventType, isCreationEvent, subjectOf } from '../schema/event-types.ts'

/** The body of a post to an endpoint. */
export interface Envelope {
  id: string
  type: EventType
  created_at: string
  data: EventData
}

/** The record of the event: `screenshot`, or for a video `video`. */
type EventData = { screenshot: ScreenshotRecord } | { video: ScreenshotRecord }

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

/** A test event. `data.test` distinguishes it from other events. */
interface TestEnvelope extends Envelope {
  data: { test: true } & EventData
}

/** Duration of the sample capture. */
const CAPTURE_MILLISECONDS = 2_500

interface Tested {
  accountName: string
  at: Date
  /** Random bytes that make the id unique. */
  seed: Uint8Array
  /** Event types of the webhook. One that has only events of videos gets a video. */
  events: readonly EventType[]
}

/** Builds the sample event of a test: `screenshot.completed` or `video.completed`, with a full record of a capture that does not exist. */
export function buildTestEvent({ accountName, at, seed, events }: Tested, linkBase: LinkBase): TestEnvelope {
  const createdAt = new Date(at.getTime() - CAPTURE_MILLISECONDS)
  const id = newId('scr', createdAt, seed)
  const isVideo = events.every((type) => subjectOf(type) === 'video')
  const sample: Screenshot = {
    metadata: { name: toObjectName(id), namespace: 'default', uid: id, resourceVersion: '1', creationTimestamp: createdAt.toISOString() },
    spec: { accountName, url: 'https://example.com/', ...(isVideo ? { options: { format: 'mp4' } } : {}) },
    status: {
      phase: 'Completed',
      attempt: 1,
      startTime: createdAt.toISOString(),
      completionTime: at.toISOString(),
      result: {
        fileSizeBytes: 48_213,
        processingMilliseconds: CAPTURE_MILLISECONDS,
        // The defaults of the options.
        ...(isVideo ? { width: 1280, height: 720 } : { width: 1920, height: 1080 }),
        ...(isVideo ? { durationMilliseconds: 5_000, fps: 30, frames: 150 } : {}),
        pageTitle: 'Example Domain',
        finalUrl: 'https://example.com/',
        httpStatus: 200,
      },
    },
  }
  const event = buildEvent(sample, isVideo ? 'video.completed' : 'screenshot.completed', linkBase)
  return { ...event, data: { test: true, ...event.data } }
}

// Retries post the stored bytes of an event, signed with the endpoint's secret. The endpoint trusts the signature, so the operator checks that
// the stored bytes belong to the event, and that their links belong to its account.

const Link = z.string().max(65_536).nullable().optional()
const StoredRecord = z.looseObject({
  id: z.string(),
  url: z.string(),
  status: z.string(),
  storage_path: z.string().nullable(),
  download_url: Link,
  artifacts: z.array(z.looseObject({ download_url: Link })).optional(),
  comparison: z.looseObject({ diff_url: Link }).nullable().optional(),
})
const StoredEvent = z.looseObject({
  id: z.string(),
  type: z.string(),
  created_at: z.string(),
  data: z.union([z.looseObject({ screenshot: StoredRecord }), z.looseObject({ video: StoredRecord })]),
})
type StoredEvent = z.infer<typeof StoredEvent>

/** The known facts about an event whose Screenshot is deleted. */
interface EventFacts {
  id: string
  type: string
  screenshot: string
  account: string
  publicUrl: string
}

type Linked = Pick<z.infer<typeof StoredRecord>, 'download_url'> & {
  artifacts?: readonly { download_url?: string | null | undefined }[] | undefined
  comparison?: { diff_url?: string | null | undefined } | null | undefined
}

/** A link without its query, which changes when the signing key is rotated. */
const placeOf = (link: string | null | undefined): string | undefined => link?.split('?', 1)[0]

const linksOf = ({ download_url: main, artifacts = [], comparison }: Linked): (string | undefined)[] =>
  [main, ...artifacts.map(({ download_url: link }) => link), comparison?.diff_url].map(placeOf)

/** True if the record is in the field of `data` where the type of the event has it. */
const isInPlace = ({ type, data }: StoredEvent): boolean => 'video' in data === type.startsWith('video.')

function parseStored(text: string): StoredEvent | undefined {
  const { data } = StoredEvent.safeParse(parseStoredJson(text))
  return data && isInPlace(data) ? data : undefined
}

/** Compares stored bytes with the rebuilt event. Returns why they differ, or undefined if they match. Ignores the signatures of links. */
export function findMismatch(text: string, built: Envelope): IgnoreReason | undefined {
  const stored = parseStored(text)
  if (!stored) return 'content'
  const record = recordIn(stored.data)
  const wanted = recordIn(built.data)
  if (stored.id !== built.id || record.id !== wanted.id) return 'id'
  const isSame =
    stored.type === built.type &&
    stored.created_at === built.created_at &&
    record.url === wanted.url &&
    record.status === wanted.status &&
    record.storage_path === wanted.storage_path &&
    String(linksOf(record)) === String(linksOf(wanted))
  return isSame ? undefined : 'content'
}

/** Like {@link findMismatch}, for an event whose Screenshot is deleted. */
export function findMismatchOfDeleted(text: string, { id, type, screenshot, account, publicUrl }: EventFacts): IgnoreReason | undefined {
  const stored = parseStored(text)
  if (!stored || stored.type !== type) return 'content'
  const record = recordIn(stored.data)
  if (stored.id !== id || record.id !== screenshot) return 'id'
  const own = objectKeyPrefix(account, screenshot)
  if (record.storage_path !== null && !record.storage_path.startsWith(own)) return 'account'
  return linksOf(record).every((link) => link === undefined || link.startsWith(`${publicUrl}/files/${own}`)) ? undefined : 'account'
}
