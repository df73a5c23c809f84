import t from 'tap'
import { buildEvent, buildTestEvent, eventSubjectOf, recordIn } from '../../../../crds/src/webhooks/events.ts'
import { aScreenshot, at, completedStatus, NOON } from '../../../support/fakes/builders.ts'

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
  const deliveries = { 'screenshot.completed': { hook: { attempts: 1, at: at(3).toISOString(), state: 'open' as const } } }
  const metadata = { ...completed.metadata, resourceVersion: '9' }
  const later = { ...completed, metadata, status: { ...completed.status, deliveries } }
  const [first, second] = [completed, later].map((shot) => JSON.stringify(buildEvent(shot, 'screenshot.completed', base)))
  t.equal(second, first)
})

t.test('buildEvent returns a different id for each type and each object', async (t) => {
  const again = aScreenshot({ status: completedStatus() })
  const events = [
    buildEvent(completed, 'screenshot.completed', base),
    buildEvent(completed, 'screenshot.queued', base),
    buildEvent(again, 'screenshot.completed', base),
  ]
  t.equal(new Set(events.map(({ id }) => id)).size, 3)
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

t.test('buildEvent creates links that are valid until the last retry, counted from the time of the event', async (t) => {
  const { download_url_expires_at: expires } = recordIn(buildEvent(completed, 'screenshot.completed', base).data)
  const days = (new Date(expires ?? 0).getTime() - at(2).getTime()) / 86_400_000
  t.ok(days >= 7 && days < 7.05, `${days} days`)
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

const aTestEvent = (events: Parameters<typeof buildTestEvent>[0]['events'], seed = 1) =>
  buildTestEvent({ accountName: 'acme', at: at(5), seed: Buffer.alloc(10, seed), events }, base)

t.test('buildTestEvent builds a full record with data.test', async (t) => {
  const event = aTestEvent(['screenshot.failed', 'video.failed'])
  t.match(event, {
    id: /^evt_/,
    type: 'screenshot.completed',
    created_at: at(5).toISOString(),
    data: { test: true, screenshot: { id: /^scr_/, status: 'completed', storage_path: /^users\/acme\/scr_/, error: null, format: 'png' } },
  })
  const screenshot = recordIn(event.data)
  t.notOk(Object.values(screenshot).includes(undefined as never), 'no field is missing')
  t.match(screenshot.download_url, /^https:\/\/shots\.example\.com\/files\/users\/acme\//)
})

t.test('buildTestEvent returns a unique id each time', async (t) => {
  const idOf = (seed: number) => aTestEvent(['screenshot.queued'], seed).id
  t.not(idOf(1), idOf(2))
  t.equal(idOf(1), idOf(1))
})

t.test('buildTestEvent builds a video for a webhook that has only events of videos', async (t) => {
  t.match(aTestEvent(['video.failed']), {
    type: 'video.completed',
    data: { test: true, video: { format: 'mp4', content_type: 'video/mp4', frames: 150 } },
  })
})
