import { newId } from '../identifiers/ids.ts'
import { toObjectName } from '../identifiers/names.ts'
import type { Screenshot } from '../kinds/screenshot.ts'
import { type EventType, subjectOf } from '../schema/event-types.ts'
import { buildEvent, type Envelope, type EventData, type LinkBase } from './events.ts'

/** A test event. `data.test` distinguishes it from other events. */
export interface TestEnvelope extends Envelope {
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
