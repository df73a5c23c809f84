import t from 'tap'
import type { DeliveryStateChange } from '../../../../../operator/src/controllers/delivery/decide.ts'
import { toDeliveryStatePatch } from '../../../../../operator/src/controllers/delivery/delivery-state-patch.ts'
import { aScreenshot, NOON } from '../../../../support/fakes/builders.ts'

const entry = (attempts: number, state: 'open' | 'ok' = 'ok') => ({ attempts, at: NOON.toISOString(), state })
const aChange = (given: Partial<DeliveryStateChange> = {}): DeliveryStateChange => ({
  event: 'screenshot.completed',
  webhook: 'hook',
  before: undefined,
  after: entry(1),
  ...given,
})
const shot = (deliveries?: NonNullable<ReturnType<typeof aScreenshot>['status']>['deliveries']) =>
  aScreenshot({ metadata: { uid: 'uid-1' }, status: { phase: 'Completed', ...(deliveries ? { deliveries } : {}) } })

t.test('toDeliveryStatePatch adds status.deliveries where it is absent', async (t) => {
  t.strictSame(toDeliveryStatePatch(shot(), [aChange(), aChange({ webhook: 'b' })]).body, [
    { op: 'test', path: '/metadata/uid', value: 'uid-1' },
    { op: 'test', path: '/status/deliveries', value: null },
    { op: 'add', path: '/status/deliveries', value: { 'screenshot.completed': { hook: entry(1), b: entry(1) } } },
  ])
})

t.test('toDeliveryStatePatch adds an event to existing ones', async (t) => {
  t.strictSame(toDeliveryStatePatch(shot({ 'screenshot.queued': { hook: entry(1) } }), [aChange()]).body, [
    { op: 'test', path: '/metadata/uid', value: 'uid-1' },
    { op: 'test', path: '/status/deliveries/screenshot.completed', value: null },
    { op: 'add', path: '/status/deliveries/screenshot.completed', value: { hook: entry(1) } },
  ])
})

t.test('toDeliveryStatePatch changes an entry only while it has its expected value', async (t) => {
  const changes = [aChange({ before: entry(1, 'open'), after: entry(2) }), aChange({ webhook: 'new' })]
  t.strictSame(toDeliveryStatePatch(shot({ 'screenshot.completed': { hook: entry(1, 'open') } }), changes).body, [
    { op: 'test', path: '/metadata/uid', value: 'uid-1' },
    { op: 'test', path: '/status/deliveries/screenshot.completed/hook', value: entry(1, 'open') },
    { op: 'test', path: '/status/deliveries/screenshot.completed/new', value: null },
    { op: 'add', path: '/status/deliveries/screenshot.completed/hook', value: entry(2) },
    { op: 'add', path: '/status/deliveries/screenshot.completed/new', value: entry(1) },
  ])
})
