import t from 'tap'
import { buildEvent, eventTimeOf } from '../../../../crds/src/webhooks/events.ts'
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
  t.match(event.data.screenshot.download_url, /^https:\/\/shots\.example\.com\/files\/users\/default\/scr_/)
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
  t.match(event.data.screenshot, { status: 'failed', error: { code: 'DNS_FAILED' }, download_url: null })
})

t.test('buildEvent creates links that are valid until the last retry, counted from the time of the event', async (t) => {
  const { download_url_expires_at: expires } = buildEvent(completed, 'screenshot.completed', base).data.screenshot
  const days = (new Date(expires ?? 0).getTime() - at(2).getTime()) / 86_400_000
  t.ok(days >= 7 && days < 7.05, `${days} days`)
})

t.test('eventTimeOf returns the creation time for queued and the completion time for the others', async (t) => {
  t.strictSame(eventTimeOf(completed, 'screenshot.queued'), NOON)
  t.strictSame(eventTimeOf(completed, 'screenshot.completed'), at(2))
})
