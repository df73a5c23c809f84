import t from 'tap'
import {
  findOpenDeliveries,
  hasOpenDeliveries,
  isHidden,
} from '../../../../../../api-gateway/src/resources/screenshots/store/screenshot-state.ts'
import { aScreenshot } from '../../../fakes.ts'

t.test('isHidden sees the mark of a deletion, a deletion under way, and a Screenshot that shows its archived record', async (t) => {
  const shot = aScreenshot({})
  t.equal(isHidden(shot), false)
  const marked = { metadata: { ...shot.metadata, annotations: { 'tintype.dev/delete-requested': 'x' } } }
  t.equal(isHidden(marked), true)
  t.equal(isHidden({ metadata: { ...shot.metadata, deletionTimestamp: 'x' } }), true)
  const restored = { phase: 'Completed', restoredFrom: 'scr_6ybsne2r7m8z0q3x5v1c4h9kfd' } as const
  t.equal(isHidden({ ...shot, status: restored }), true)
  t.equal(isHidden({ ...shot, status: { ...restored, attempt: 1 } }), false, 'not of a runner')
})

t.test('hasOpenDeliveries looks at every event and receiver', async (t) => {
  const at = '2026-11-21T10:00:00Z'
  const withDeliveries = (state: 'open' | 'ok' | 'failed') => ({
    status: {
      deliveries: {
        'screenshot.queued': { a: { attempts: 1, at, state: 'ok' as const } },
        'screenshot.completed': { a: { attempts: 1, at, state } },
      },
    },
  })
  t.equal(hasOpenDeliveries({}), false)
  t.equal(hasOpenDeliveries(withDeliveries('ok')), false)
  t.equal(hasOpenDeliveries(withDeliveries('failed')), false)
  t.equal(hasOpenDeliveries(withDeliveries('open')), true)
})

t.test('findOpenDeliveries names each delivery that awaits another attempt', async (t) => {
  const entry = (state: 'open' | 'ok' | 'failed') => ({ attempts: 1, at: '2026-11-21T10:00:00.000Z', state })
  const deliveries = {
    'screenshot.queued': { a: entry('open'), b: entry('ok') },
    'screenshot.completed': { a: entry('open'), b: entry('failed'), _request: entry('open') },
  }
  const open = ['a/screenshot.queued', 'a/screenshot.completed', '_request/screenshot.completed']
  t.strictSame(findOpenDeliveries(aScreenshot({ status: { deliveries } })), open)
  t.strictSame(findOpenDeliveries(aScreenshot({})), [])
})
