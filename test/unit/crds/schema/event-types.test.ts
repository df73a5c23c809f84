import t from 'tap'
import { EVENT_TYPES, eventsOfPhase, isCreationEvent, REQUEST_EVENTS } from '../../../../crds/src/schema/event-types.ts'

t.test('EVENT_TYPES lists the documented event types', async (t) => {
  t.strictSame([...EVENT_TYPES], ['screenshot.queued', 'screenshot.completed', 'screenshot.failed', 'video.completed', 'video.failed'])
})

t.test('REQUEST_EVENTS lists the documented default of webhook_events', async (t) => {
  t.strictSame(REQUEST_EVENTS, ['screenshot.completed', 'screenshot.failed', 'video.completed', 'video.failed'])
})

t.test('eventsOfPhase returns the events that a phase has emitted, in order', async (t) => {
  t.strictSame(eventsOfPhase('screenshot', undefined), ['screenshot.queued'])
  t.strictSame(eventsOfPhase('screenshot', 'Running'), ['screenshot.queued'])
  t.strictSame(eventsOfPhase('screenshot', 'Completed'), ['screenshot.queued', 'screenshot.completed'])
  t.strictSame(eventsOfPhase('screenshot', 'Failed'), ['screenshot.queued', 'screenshot.failed'])
  t.strictSame(eventsOfPhase('screenshot', 'Failed').map(isCreationEvent), [true, false])
  t.strictSame(eventsOfPhase('video', 'Running'), [])
  t.strictSame(eventsOfPhase('video', 'Completed'), ['video.completed'])
  t.strictSame(eventsOfPhase('video', 'Failed'), ['video.failed'])
})
