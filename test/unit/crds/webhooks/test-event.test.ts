import t from 'tap'
import { recordIn } from '../../../../crds/src/webhooks/events.ts'
import { buildTestEvent } from '../../../../crds/src/webhooks/test-event.ts'
import { at } from '../../../support/fakes/builders.ts'

const linkBase = { publicUrl: 'https://shots.example.com', ring: { current: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } } }

t.test('buildTestEvent builds a full record with data.test', async (t) => {
  const event = buildTestEvent(
    { accountName: 'acme', at: at(5), seed: Buffer.alloc(10, 1), events: ['screenshot.failed', 'video.failed'] },
    linkBase,
  )
  t.match(event, {
    id: /^evt_/,
    type: 'screenshot.completed',
    created_at: at(5).toISOString(),
    data: { test: true, screenshot: { id: /^scr_/, status: 'completed', storage_path: /^users\/acme\/scr_/, error: null, format: 'png' } },
  })
  const screenshot = recordIn(event.data)
  t.strictSame(
    Object.entries(screenshot).filter(([, value]) => value === undefined),
    [],
  )
  t.match(screenshot.download_url, /^https:\/\/shots\.example\.com\/files\/users\/acme\//)
})

t.test('buildTestEvent returns a unique id each time', async (t) => {
  const idOf = (seed: number) =>
    buildTestEvent({ accountName: 'acme', at: at(5), seed: Buffer.alloc(10, seed), events: ['screenshot.queued'] }, linkBase).id
  t.not(idOf(1), idOf(2))
  t.equal(idOf(1), idOf(1))
})

t.test('buildTestEvent builds a video for a webhook that has only events of videos', async (t) => {
  const event = buildTestEvent({ accountName: 'acme', at: at(5), seed: Buffer.alloc(10, 1), events: ['video.failed'] }, linkBase)
  t.match(event, { type: 'video.completed', data: { test: true, video: { format: 'mp4', content_type: 'video/mp4', frames: 150 } } })
})
