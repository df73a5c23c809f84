import t from 'tap'
import { isFinished, Screenshot, ScreenshotSpec, ScreenshotStatus } from '../../../../crds/src/kinds/screenshot.ts'
import { aScreenshot, completedStatus, failedStatus } from '../../../support/fakes/builders.ts'

t.test('Screenshot accepts pending, completed and failed objects', async (t) => {
  for (const shot of [aScreenshot(), aScreenshot({ status: completedStatus() }), aScreenshot({ status: failedStatus() })]) {
    t.ok(Screenshot.safeParse(shot).success)
  }
})

t.test('Screenshot keeps unknown metadata', async (t) => {
  const shot = { ...aScreenshot(), metadata: { ...aScreenshot().metadata, finalizers: ['x'] } }
  t.strictSame(Screenshot.parse(shot).metadata.finalizers, ['x'])
})

t.test('ScreenshotSpec refuses credentials in the URL and invalid names', async (t) => {
  const bad = [
    {},
    { url: 'https://a:b@example.com/' },
    { url: 'https://example.com/', accountName: 'Not A Name' },
    { url: 'https://example.com/', poolName: 'x'.repeat(64) },
  ]
  for (const spec of bad) t.notOk(ScreenshotSpec.safeParse(spec).success, JSON.stringify(spec))
})

t.test('ScreenshotStatus refuses unknown phases, codes and delivery states', async (t) => {
  const bad = [
    { phase: 'Done' },
    { result: { error: { code: 'OOPS', message: '' } } },
    { deliveries: { 'screenshot.completed': { hook: { attempts: 1, at: '2026-11-21T12:00:00Z', state: 'maybe' } } } },
    { attempt: -1 },
  ]
  for (const status of bad) t.notOk(ScreenshotStatus.safeParse(status).success, JSON.stringify(status))
})

t.test('isFinished is true only for completed and failed Screenshots', async (t) => {
  for (const phase of ['Completed', 'Failed'] as const) t.ok(isFinished({ status: { phase } }), phase)
  for (const phase of ['Pending', 'Running'] as const) t.notOk(isFinished({ status: { phase } }), phase)
  t.notOk(isFinished({ status: undefined }))
})
