import t from 'tap'
import { silentLog } from '../../../../crds/client/log.ts'
import { buildEvent, createEventRecorder, EventFilter } from '../../../../operator/src/kube/event-recorder.ts'
import { aScreenshot, NOON } from '../../../support/fakes/builders.ts'

const regarding = { ...aScreenshot(), apiVersion: 'tintype.dev/v1alpha1', kind: 'Screenshot' }

t.test('EventFilter drops a recent repetition, and admits it later', async (t) => {
  const filter = new EventFilter()
  t.ok(filter.admits('uid', 'lost', 0))
  t.notOk(filter.admits('uid', 'lost', 299_999))
  t.ok(filter.admits('uid', 'lost', 300_000))
  t.ok(filter.admits('other', 'lost', 0))
})

t.test('EventFilter admits 25 Events per object, then one in five minutes', async (t) => {
  const filter = new EventFilter()
  const admitted = Array.from({ length: 40 }, (_, n) => filter.admits('uid', `text ${n}`, 0)).filter(Boolean)
  t.equal(admitted.length, 25)
  t.ok(filter.admits('uid', 'another', 300_000))
  t.notOk(filter.admits('uid', 'and another', 300_000))
})

t.test('EventFilter limits the number of remembered objects', async (t) => {
  const filter = new EventFilter()
  for (let n = 0; n <= 4_096; n++) filter.admits(`uid ${n}`, 'lost', 0)
  t.ok(filter.admits('uid 0', 'lost', 0), 'the oldest is forgotten')
  t.notOk(filter.admits('uid 4096', 'lost', 0))
})

t.test('buildEvent fills the fields that kubectl describe shows', async (t) => {
  const event = buildEvent(regarding, { reason: 'RunnerLost', message: 'x'.repeat(5_000), instance: 'operator-0', at: NOON })
  t.match(event, {
    type: 'Warning',
    reason: 'RunnerLost',
    involvedObject: { kind: 'Screenshot', name: regarding.metadata.name, uid: regarding.metadata.uid },
    lastTimestamp: '2026-11-21T12:00:00Z',
  })
  t.equal(event.message?.length, 1_024)
})

t.test('a rejected Event causes no error', async (t) => {
  const reported: unknown[] = []
  const log = { ...silentLog, debug: (fields: object) => void reported.push(fields) }
  const events = { create: () => Promise.reject(new Error('quota')) }
  createEventRecorder({ events, instance: 'operator-0', log, now: () => 0 }).warn(regarding, 'RunnerLost', 'gone')
  await new Promise((resolve) => setImmediate(resolve))
  t.match(reported, [{ reason: 'RunnerLost' }])
})

t.test('createEventRecorder records a Normal event when a problem clears', async (t) => {
  const made: unknown[] = []
  const events = { create: async (event: unknown) => void made.push(event) } as never
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  createEventRecorder({ events, instance: 'operator-0', log, now: () => 0 }).normal(
    regarding,
    'RunnersReady',
    'At least one runner can capture.',
  )
  t.match(made, [{ type: 'Normal', reason: 'RunnersReady', message: 'At least one runner can capture.' }])
})
