import t from 'tap'
import { buildTestEvent } from '../../../../crds/src/webhooks/test-event.ts'
import { at } from '../../../support/fakes/builders.ts'

const linkBase = { publicUrl: 'https://shots.example.com', ring: { current: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } } }

t.test('buildTestEvent builds a full record with data.test', async (t) => {
  const event = buildTestEvent({ accountName: 'acme', at: at(5), seed: Buffer.alloc(10, 1) }, linkBase)
  t.match(event, {
    id: /^evt_/,
    type: 'screenshot.completed',
    created_at: at(5).toISOString(),
    data: { test: true, screenshot: { id: /^scr_/, status: 'completed', storage_path: /^users\/acme\/scr_/, error: null, format: 'png' } },
  })
  const { screenshot } = event.data
  t.strictSame(
    Object.entries(screenshot).filter(([, value]) => value === undefined),
    [],
  )
  t.match(screenshot.download_url, /^https:\/\/shots\.example\.com\/files\/users\/acme\//)
})

t.test('buildTestEvent returns a unique id each time', async (t) => {
  const idOf = (seed: number) => buildTestEvent({ accountName: 'acme', at: at(5), seed: Buffer.alloc(10, seed) }, linkBase).id
  t.not(idOf(1), idOf(2))
  t.equal(idOf(1), idOf(1))
})
