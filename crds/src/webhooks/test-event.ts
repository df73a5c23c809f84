import { newId } from '../identifiers/ids.ts'
import { toObjectName } from '../identifiers/names.ts'
import type { Screenshot } from '../kinds/screenshot.ts'
import { buildEvent, type Envelope, type LinkBase } from './events.ts'

/** A test event: like any other, and told apart by `data.test`. */
export interface TestEnvelope extends Envelope {
  data: { test: true } & Envelope['data']
}

/** How long the capture that never was took. */
const CAPTURE_MILLISECONDS = 2_500

interface Tested {
  accountName: string
  at: Date
  /** What makes this test another than the next. */
  seed: Uint8Array
}

/** Builds the sample `screenshot.completed` of a test (spec 4.12): a whole record of a screenshot that does not exist. */
export function buildTestEvent({ accountName, at, seed }: Tested, linkBase: LinkBase): TestEnvelope {
  const createdAt = new Date(at.getTime() - CAPTURE_MILLISECONDS)
  const id = newId('scr', createdAt, seed)
  const sample: Screenshot = {
    metadata: { name: toObjectName(id), namespace: 'default', uid: id, resourceVersion: '1', creationTimestamp: createdAt.toISOString() },
    spec: { accountName, url: 'https://example.com/' },
    status: {
      phase: 'Completed',
      attempt: 1,
      startTime: createdAt.toISOString(),
      completionTime: at.toISOString(),
      result: {
        fileSizeBytes: 48_213,
        processingMilliseconds: CAPTURE_MILLISECONDS,
        width: 1280,
        height: 720,
        pageTitle: 'Example Domain',
        finalUrl: 'https://example.com/',
        httpStatus: 200,
      },
    },
  }
  const event = buildEvent(sample, 'screenshot.completed', linkBase)
  return { ...event, data: { test: true, ...event.data } }
}
