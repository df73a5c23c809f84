import t from 'tap'
import type { ScreenshotSpec, ScreenshotStatus } from '../../../../crds/src/kinds/screenshot.ts'
import { costOf, isFree } from '../../../../crds/src/records/record.ts'
import type { JobErrorCode } from '../../../../crds/src/schema/errors.ts'

const START = '2026-11-26T10:00:00.000Z'
const after = (seconds: number): string => new Date(Date.parse(START) + seconds * 1_000).toISOString()

/** A capture that failed in a runner after some seconds. */
const failed = (code: JobErrorCode, seconds = 5, result: object = { processingMilliseconds: seconds * 1_000 }): ScreenshotStatus => ({
  phase: 'Failed',
  attempt: 1,
  startTime: START,
  completionTime: after(seconds),
  result: { ...result, error: { code, message: 'the page is slow' } },
})
const shot = (status: ScreenshotStatus, spec: Partial<ScreenshotSpec> = {}) => ({ spec: { url: 'https://example.com', ...spec }, status })

const longVideo: Partial<ScreenshotSpec> = { options: { format: 'mp4', videoDuration: 25 } }
const refunded = { type: 'Refunded', status: 'True' as const, reason: 'CaptureFailed', message: '', lastTransitionTime: START }

const rows: { name: string; status: ScreenshotStatus; cost: number; spec?: Partial<ScreenshotSpec> }[] = [
  { name: 'a pending screenshot', status: {}, cost: 1 },
  { name: 'a completed one', status: { phase: 'Completed', attempt: 1 }, cost: 1 },
  { name: 'a video of 25 seconds', status: {}, cost: 3, spec: longVideo },
  { name: 'a picture from the cache', status: { phase: 'Completed' }, cost: 0, spec: { cachedFrom: 'a'.repeat(64) } },
  { name: 'a page that times out after exactly a minute', status: failed('TIMEOUT', 60), cost: 0 },
  { name: 'a page that times out after 61 seconds', status: failed('TIMEOUT', 61), cost: 1 },
  { name: 'a page whose report came late', status: failed('TIMEOUT', 120, { processingMilliseconds: 60_000 }), cost: 0 },
  { name: 'a capture that the operator ended after two minutes', status: failed('TIMEOUT', 120, {}), cost: 1 },
  { name: 'a fault of the service after two minutes', status: failed('INTERNAL_ERROR', 120), cost: 0 },
  { name: 'a code of another version', status: failed('SOMETHING_NEW' as JobErrorCode, 120), cost: 0 },
  { name: 'an old queue without an attempt', status: { ...failed('POOL_NOT_FOUND', 120, {}), attempt: 0 }, cost: 0 },
  { name: 'a failure without times', status: { phase: 'Failed', attempt: 1, result: failed('TIMEOUT', 0, {}).result }, cost: 0 },
  { name: 'one that was never charged', status: { ...failed('USAGE_LIMIT_REACHED', 0, {}), attempt: 0 }, cost: 0 },
  { name: 'one that was canceled', status: failed('CANCELLED'), cost: 1 },
  { name: 'one that was refunded by an earlier version', status: { ...failed('TIMEOUT', 120), conditions: [refunded] }, cost: 0 },
]
for (const { name, status, cost, spec } of rows)
  t.test(`costOf is ${cost} for ${name}`, async (t) => t.equal(costOf(shot(status, spec)), cost))

t.test('isFree is false for captures that did not fail', async (t) => {
  t.notOk(isFree({ status: { phase: 'Completed' } }))
  t.notOk(isFree({ status: { phase: 'Failed' } }))
  t.notOk(isFree({ status: undefined }))
})
