import t from 'tap'
import { EVENT_TYPES, eventsOfStatus, isCreationEvent, REQUEST_EVENTS } from '../../../../crds/src/schema/event-types.ts'

t.test('EVENT_TYPES lists the documented event types', async (t) => {
  t.strictSame(
    [...EVENT_TYPES],
    [
      'screenshot.queued',
      'screenshot.completed',
      'screenshot.changed',
      'screenshot.unfit',
      'screenshot.fit',
      'screenshot.failed',
      'video.completed',
      'video.failed',
    ],
  )
})

t.test('REQUEST_EVENTS lists the documented default of webhook_events', async (t) => {
  t.strictSame(REQUEST_EVENTS, ['screenshot.completed', 'screenshot.failed', 'video.completed', 'video.failed'])
})

t.test('eventsOfStatus returns the events that a status has emitted, in order', async (t) => {
  t.strictSame(eventsOfStatus('screenshot'), ['screenshot.queued'])
  t.strictSame(eventsOfStatus('screenshot', { phase: 'Running' }), ['screenshot.queued'])
  t.strictSame(eventsOfStatus('screenshot', { phase: 'Completed' }), ['screenshot.queued', 'screenshot.completed'])
  t.strictSame(eventsOfStatus('screenshot', { phase: 'Failed' }), ['screenshot.queued', 'screenshot.failed'])
  t.strictSame(eventsOfStatus('screenshot', { phase: 'Failed' }).map(isCreationEvent), [true, false])
  t.strictSame(eventsOfStatus('video', { phase: 'Running' }), [])
  t.strictSame(eventsOfStatus('video', { phase: 'Completed' }), ['video.completed'])
  t.strictSame(eventsOfStatus('video', { phase: 'Failed' }), ['video.failed'])
})

t.test('eventsOfStatus includes screenshot.changed only for a completed capture whose comparison found a change', async (t) => {
  const of = (phase: string, changed: boolean) => eventsOfStatus('screenshot', { phase, result: { comparison: { changed } } })
  t.strictSame(of('Completed', true), ['screenshot.queued', 'screenshot.completed', 'screenshot.changed'])
  t.strictSame(of('Completed', false), ['screenshot.queued', 'screenshot.completed'])
  t.strictSame(of('Failed', true), ['screenshot.queued', 'screenshot.failed'])
})

t.test(
  'eventsOfStatus includes screenshot.unfit and screenshot.fit only for a run of a schedule that differs from the run before',
  async (t) => {
    const of = (unfit: string | undefined, wasFit?: boolean, phase = 'Completed') =>
      eventsOfStatus('screenshot', { phase, result: { unfit } }, wasFit).slice(2)
    t.strictSame(of('http_error', true), ['screenshot.unfit'])
    t.strictSame(of('http_error', false), [])
    t.strictSame(of(undefined, false), ['screenshot.fit'])
    t.strictSame(of(undefined, true), [])
    t.strictSame(of('http_error'), [], 'no run of a schedule that compares')
    t.strictSame(of(undefined, false, 'Failed'), [], 'a failed run says nothing about the page')
  },
)
