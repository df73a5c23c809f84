// Complete and valid objects for tests. A test sets only the fields that it needs.

import { derivedId } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { Account } from '../../../crds/src/kinds/account.ts'
import type { ApiKey } from '../../../crds/src/kinds/api-key.ts'
import type { RunnerPool } from '../../../crds/src/kinds/runner-pool.ts'
import type { Screenshot, ScreenshotSpec, ScreenshotStatus } from '../../../crds/src/kinds/screenshot.ts'
import type { ScreenshotScheduleSpec, ScreenshotScheduleStatus, StoredSchedule } from '../../../crds/src/kinds/screenshot-schedule.ts'
import type { Webhook, WebhookSpec, WebhookStatus } from '../../../crds/src/kinds/webhook.ts'
import { type Segment, toLines, toSegments } from '../../../crds/src/records/archive.ts'
import type { Metadata, Whole } from '../../../crds/src/schema/custom-resource.ts'
import type { AttemptLine } from '../../../crds/src/webhooks/deliveries.ts'

/** The start time of tests. */
export const NOON = new Date('2026-11-21T12:00:00.000Z')

/** A time some seconds after noon. */
export const at = (second: number): Date => new Date(NOON.getTime() + second * 1000)

let uids = 0

function metadata(name: string, given: Partial<Metadata> = {}): Metadata & { leftOut?: undefined } {
  const uid = `00000000-0000-4000-8000-${String(++uids).padStart(12, '0')}`
  return {
    name,
    namespace: 'default',
    uid,
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: NOON.toISOString(),
    ...given,
  } as Metadata & { leftOut?: undefined }
}

type Given<Spec, Status> = { name?: string; metadata?: Partial<Metadata>; spec?: Partial<Spec>; status?: Status }

/** A Screenshot, queued unless `status` says otherwise. It was created at noon, and its name contains its id. */
export function aScreenshot({
  name = toObjectName(derivedId('scr', NOON, 'a')),
  ...given
}: Given<ScreenshotSpec, ScreenshotStatus> = {}): Whole<Screenshot> {
  return {
    metadata: metadata(name, given.metadata),
    spec: { url: 'https://example.com/', ...given.spec },
    status: { phase: 'Pending', ...given.status },
  }
}

/** The status of a Screenshot that was captured two seconds after noon. */
export const completedStatus = (more: Partial<ScreenshotStatus> = {}): ScreenshotStatus => ({
  phase: 'Completed',
  runner: { pod: 'default-1', uid: 'pod-uid' },
  attempt: 1,
  startTime: at(1).toISOString(),
  completionTime: at(2).toISOString(),
  result: { format: 'png', fileSizeBytes: 1234, width: 1920, height: 1080, processingMilliseconds: 900, httpStatus: 200 },
  conditions: [
    { type: 'Succeeded', status: 'True', reason: 'Captured', message: 'captured', lastTransitionTime: at(2).toISOString() },
    { type: 'Finished', status: 'True', reason: 'Captured', message: 'captured', lastTransitionTime: at(2).toISOString() },
  ],
  ...more,
})

/** The status of a Screenshot whose capture failed two seconds after noon. */
export const failedStatus = (more: Partial<ScreenshotStatus> = {}): ScreenshotStatus => ({
  phase: 'Failed',
  attempt: 1,
  startTime: at(1).toISOString(),
  completionTime: at(2).toISOString(),
  result: { error: { code: 'DNS_FAILED', message: 'example.com does not resolve' } },
  conditions: [],
  ...more,
})

/** A Webhook for completed Screenshots, active since its creation at noon unless its status says otherwise. */
export function aWebhook({ name = 'hook', ...given }: Given<WebhookSpec, WebhookStatus> = {}): Webhook {
  return {
    metadata: metadata(name, given.metadata),
    spec: { url: 'https://hooks.example.com/in', events: ['screenshot.completed'], ...given.spec },
    status: given.status ?? { activeSince: NOON.toISOString(), signingSecretName: `${name}-signing-secret` },
  }
}

/** A line of a delivery log: the first attempt, which has failed. */
export const anAttempt = (changes: Partial<AttemptLine> = {}): AttemptLine => ({
  ...{ delivery: 'dlv_1', event: 'evt_1', type: 'screenshot.completed', screenshot: 'scr_1' },
  ...{ attempt: 1, at: at(1).toISOString(), milliseconds: 12, statusCode: 500, outcome: 'answered' },
  ...changes,
})

/** An account on the free plan. */
export function anAccount({ name = 'default', ...given }: Given<Account['spec'], Account['status']> = {}): Account {
  return { metadata: metadata(name, given.metadata), spec: { plan: 'free', ...given.spec } }
}

/** A key with all scopes. */
export function anApiKey({ name = 'key', ...given }: Given<ApiKey['spec'], ApiKey['status']> = {}): ApiKey {
  return { metadata: metadata(name, given.metadata), spec: { ...given.spec }, ...(given.status ? { status: given.status } : {}) }
}

/** A pool with all its defaults. */
export function aRunnerPool({ name = 'default', ...given }: Given<RunnerPool['spec'], RunnerPool['status']> = {}): RunnerPool {
  return {
    metadata: metadata(name, given.metadata),
    spec: { podTemplate: { image: 'tintype/capture-runner:test', serviceAccountName: 'runner' }, ...given.spec },
    ...(given.status === undefined ? {} : { status: given.status }),
  }
}

/** A schedule that is due every hour. */
export function aSchedule({
  name = 'home',
  ...given
}: Given<ScreenshotScheduleSpec, ScreenshotScheduleStatus> = {}): Whole<StoredSchedule> {
  return {
    metadata: metadata(name, { uid: 'u', ...given.metadata }),
    spec: { schedule: '0 * * * *', template: { url: 'https://example.com/' }, ...given.spec },
    ...(given.status === undefined ? {} : { status: given.status }),
  }
}

/** The segments of records, as the archive writes them. */
export const buildSegments = (account: string, screenshots: readonly Whole<Screenshot>[]): Segment[] =>
  toSegments(account, toLines(screenshots))
