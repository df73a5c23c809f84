import { CaptureResult, ScreenshotStatus } from '@tintype/crds/kinds/screenshot'
import { JOB_ERRORS } from '@tintype/crds/schema/errors'
import t from 'tap'
import { buildFailure, buildSuccess, toDuration, toSize } from '../../../../capture-runner/src/capture/outcome.ts'
import { CaptureError } from '../../../../capture-runner/src/runtime/errors.ts'
import { NOON } from '../../../support/fakes/builders.ts'

const course = { processingMilliseconds: 820.4, timings: { navigate: 500 } }
const success = {
  format: 'png' as const,
  width: 1920,
  height: 1080,
  stored: { etag: 'abc', fileSizeBytes: 204_800 },
  findings: { warnings: [], truncated: false, pageTitle: 'Title', finalUrl: 'https://example.com/end', httpStatus: 200 },
}

t.test('buildSuccess includes all data of the screenshot', async (t) => {
  const { phase, result, conditions } = buildSuccess(success, course, NOON)
  t.equal(phase, 'Completed')
  t.strictSame(result, {
    format: 'png',
    fileSizeBytes: 204_800,
    etag: 'abc',
    width: 1920,
    height: 1080,
    truncated: false,
    pageTitle: 'Title',
    finalUrl: 'https://example.com/end',
    httpStatus: 200,
    forms: [],
    processingMilliseconds: 820,
    timings: { navigate: 500 },
    size: '200 KiB',
    duration: '820ms',
  })
  t.match(conditions, [
    { type: 'Succeeded', status: 'True', reason: 'Captured', message: 'png, 1920 × 1080, 200 KiB, in 820ms' },
    { type: 'Finished', status: 'True', reason: 'Captured', lastTransitionTime: NOON.toISOString() },
  ])
})

t.test('buildSuccess stays within the limits of the CRD', async (t) => {
  const warnings = Array.from({ length: 40 }, (_, i) => `${i} ${'x'.repeat(400)}`)
  const { result, phase, conditions } = buildSuccess({ ...success, findings: { ...success.findings, warnings } }, course, NOON)
  t.equal(result.warnings?.length, 16)
  t.doesNotThrow(() => CaptureResult.parse(result))
  t.doesNotThrow(() => ScreenshotStatus.parse({ phase, result, conditions }))
})

for (const code of Object.keys(JOB_ERRORS) as (keyof typeof JOB_ERRORS)[]) {
  t.test(`buildFailure reports ${code} as code, reason and message`, async (t) => {
    const outcome = buildFailure(new CaptureError(code, 'why'), course, NOON)
    t.match(outcome, {
      phase: 'Failed',
      result: { error: { code, message: 'why' }, processingMilliseconds: 820 },
      conditions: [
        { type: 'Succeeded', status: 'False', message: 'why' },
        { type: 'Finished', status: 'True' },
      ],
    })
    t.match(outcome.conditions[0]?.reason, /^[A-Z][A-Za-z]+$/)
    t.doesNotThrow(() => ScreenshotStatus.parse(outcome))
  })
}

t.test('buildFailure shortens a long message', async (t) => {
  const { result } = buildFailure(new CaptureError('SCRIPT_ERROR', 'x'.repeat(5_000)), course, NOON)
  t.equal(result.error?.message.length, 1_024)
})

t.test('toSize and toDuration format sizes and durations', async (t) => {
  const sizes: [number, string][] = [
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [1_500_000, '1.4 MiB'],
    [104_857_600, '100 MiB'],
    [2 ** 40, '1024 GiB'],
  ]
  for (const [bytes, text] of sizes) t.equal(toSize(bytes), text)
  const durations: [number, string][] = [
    [0, '0ms'],
    [820.4, '820ms'],
    [999.4, '999ms'],
    [4_200, '4.2s'],
    [61_000, '61.0s'],
  ]
  for (const [milliseconds, text] of durations) t.equal(toDuration(milliseconds), text)
})

t.test('buildSuccess includes the comparison, the ignored areas, and why the picture is unfit', async (t) => {
  const comparison = { changed: false, skipped: 'blank' } as const
  const ignoredElements = [{ selector: 'p', areas: [{ x: 10, y: 10, width: 5, height: 5 }] }]
  const frame = { x: 0, y: 0, scale: 2 }
  const findings = { ...success.findings, comparison, ignoredElements, frame, unfit: 'blank' as const }
  const { result } = buildSuccess({ ...success, findings }, course, NOON)
  t.match(result, { comparison, unfit: 'blank', ignored: [{ selector: 'p', boxes: [{ x: 20, y: 20, width: 10, height: 10 }] }] })
  t.ok(CaptureResult.safeParse(result).success)
})
