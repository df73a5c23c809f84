import t from 'tap'
import { buildEvent, eventSubjectOf, eventTimeOf, recordIn } from '../../../../crds/src/webhooks/events.ts'
import { aScreenshot, at, completedStatus, failedStatus, NOON } from '../../../support/fakes/builders.ts'

const ring = { current: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } }
const base = { publicUrl: 'https://shots.example.com', ring }
const completed = aScreenshot({ status: completedStatus() })

t.test('buildEvent wraps the record in an envelope', async (t) => {
  const event = buildEvent(completed, 'screenshot.completed', base)
  t.match(event, {
    id: /^evt_[0-9a-z]{26}$/,
    type: 'screenshot.completed',
    created_at: at(2).toISOString(),
    data: { screenshot: { status: 'completed' } },
  })
  t.match(recordIn(event.data).download_url, /^https:\/\/shots\.example\.com\/files\/users\/default\/scr_/)
})

t.test('buildEvent returns the same bytes each time, independent of the delivery state', async (t) => {
  const ledger = { 'screenshot.completed': { hook: { attempts: 1, at: at(3).toISOString(), state: 'open' as const } } }
  const later = {
    ...completed,
    metadata: { ...completed.metadata, resourceVersion: '9' },
    status: { ...completed.status, deliveries: ledger },
  }
  t.equal(
    JSON.stringify(buildEvent(later, 'screenshot.completed', base)),
    JSON.stringify(buildEvent(completed, 'screenshot.completed', base)),
  )
})

t.test('buildEvent returns a different id for each type and each object', async (t) => {
  const again = aScreenshot({ status: completedStatus() })
  const ids = [
    buildEvent(completed, 'screenshot.completed', base).id,
    buildEvent(completed, 'screenshot.queued', base).id,
    buildEvent(again, 'screenshot.completed', base).id,
  ]
  t.equal(new Set(ids).size, 3)
})

t.test('buildEvent of screenshot.queued always has the status pending', async (t) => {
  const waiting = { ...completed, status: { phase: 'Pending' as const } }
  const event = buildEvent(completed, 'screenshot.queued', base)
  t.match(event, {
    created_at: NOON.toISOString(),
    data: { screenshot: { status: 'pending', completed_at: null, started_at: null, attempts: 0 } },
  })
  t.strictSame(event, buildEvent(waiting, 'screenshot.queued', base))
})

t.test('buildEvent of a failure has the error', async (t) => {
  const event = buildEvent(aScreenshot({ status: failedStatus() }), 'screenshot.failed', base)
  t.match(recordIn(event.data), { status: 'failed', error: { code: 'DNS_FAILED' }, download_url: null })
})

t.test('buildEvent creates links that are valid until the last retry, counted from the time of the event', async (t) => {
  const { download_url_expires_at: expires } = recordIn(buildEvent(completed, 'screenshot.completed', base).data)
  const days = (new Date(expires ?? 0).getTime() - at(2).getTime()) / 86_400_000
  t.ok(days >= 7 && days < 7.05, `${days} days`)
})

t.test('eventTimeOf returns the creation time for queued and the completion time for the others', async (t) => {
  t.strictSame(eventTimeOf(completed, 'screenshot.queued'), NOON)
  t.strictSame(eventTimeOf(completed, 'screenshot.completed'), at(2))
})

t.test('buildEvent of a video has the record with its frames in data.video', async (t) => {
  const result = { ...completed.status?.result, durationMilliseconds: 5_000, fps: 30, frames: 150 }
  const video = aScreenshot({ spec: { options: { format: 'mp4' } }, status: { ...completedStatus(), result } })
  const event = buildEvent(video, 'video.completed', base)
  t.match(event, { type: 'video.completed', data: { video: { format: 'mp4', duration_ms: 5_000, fps: 30, frames: 150 } } })
  t.strictSame(Object.keys(event.data), ['video'])
  t.match(recordIn(event.data).storage_path, /\.mp4$/)
  t.equal(eventSubjectOf(video), 'video')
  t.equal(eventSubjectOf(completed), 'screenshot')
})
