import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { toCached } from '../../../../crds/client/cached-form.ts'
import { silentLog } from '../../../../crds/client/log.ts'
import { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import { POOL_REASONS, SCHEDULE_REASONS, SCREENSHOT_REASONS } from '../../../../operator/src/kube/condition-reasons.ts'
import { buildEvent, createEventRecorder, EventFilter } from '../../../../operator/src/kube/event-recorder.ts'
import { readObject, readWhole, withWhole } from '../../../../operator/src/kube/read-object.ts'
import { shareStrings } from '../../../../operator/src/kube/reflectors.ts'
import { aScreenshot, completedStatus, NOON } from '../../../support/fakes/builders.ts'

t.test('reasons are written as Kubernetes requires it', async (t) => {
  for (const reason of Object.keys({ ...SCREENSHOT_REASONS, ...POOL_REASONS, ...SCHEDULE_REASONS })) t.match(reason, /^([A-Z][a-z]+)+$/)
})

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
  const { name, uid } = regarding.metadata
  t.match(event, { type: 'Warning', reason: 'RunnerLost', involvedObject: { kind: 'Screenshot', name, uid } })
  t.match(event, { lastTimestamp: '2026-11-21T12:00:00Z' })
  t.equal(event.message?.length, 1_024)
})

t.test('a rejected Event causes no error', async (t) => {
  const reported: unknown[] = []
  const log = { ...silentLog, debug: (fields: object) => void reported.push(fields) }
  const events = { create: () => Promise.reject(new Error('quota')) }
  createEventRecorder({ events, instance: 'operator-0', log, now: () => 0 }).warn(regarding, 'RunnerLost', 'gone')
  await setImmediate()
  t.match(reported, [{ reason: 'RunnerLost' }])
})

t.test('createEventRecorder records a Normal event when a problem clears', async (t) => {
  const made: unknown[] = []
  const events = { create: async (event: unknown) => void made.push(event) } as never
  const recorder = createEventRecorder({ events, instance: 'operator-0', log: silentLog, now: () => 0 })
  recorder.normal(regarding, 'RunnersReady', 'One can capture.')
  t.match(made, [{ type: 'Normal', reason: 'RunnersReady', message: 'One can capture.' }])
})

t.test('readObject parses an object once for all controllers that read it', async (t) => {
  let reads = 0
  const schema = {
    safeParse: (object: unknown) => {
      reads++
      return Screenshot.safeParse(object)
    },
  }
  const object = aScreenshot()
  const first = readObject('Screenshot', schema, object)
  t.equal(readObject('Screenshot', schema, object), first)
  t.equal(reads, 1)
  readObject('Screenshot', schema, { ...object })
  t.equal(reads, 2, 'a replaced object is parsed again')
})

t.test('readObject throws a terminal error that names an object which does not match its schema', async (t) => {
  const wrong = { ...aScreenshot(), spec: { url: 7 } } as unknown as Screenshot
  t.throws(() => readObject('Screenshot', Screenshot, wrong), {
    reason: 'InvalidObject',
    message: /the Screenshot .+ does not match its schema/,
  })
})

const html = 'x'.repeat(300_000)
const aLarge = (name: string, accountName: string, metadata: Screenshot['metadata'] | object = {}) =>
  aScreenshot({ name, metadata, spec: { accountName, options: { html, delay: 5 } } })
const clientOf = (...stored: Screenshot[]) => ({ find: async (name: string) => stored.find(({ metadata }) => metadata.name === name) })

t.test('readWhole adds the options of the API server to the object of the cache, and reads nothing else', async (t) => {
  const stored = aLarge('home', 'red')
  const cached = { ...toCached(stored), status: completedStatus() }
  t.strictSame(await readWhole(cached, clientOf(stored)), { ...stored, status: cached.status })
  const small = aScreenshot()
  t.equal(await readWhole(small, { find: () => Promise.reject(new Error('read')) }), small)
})

t.test('readWhole returns nothing for another object with the name, and for a spec that has changed', async (t) => {
  const stored = aLarge('home', 'red')
  const cached = toCached(stored)
  t.equal(await readWhole(cached, clientOf()), undefined)
  t.equal(await readWhole(cached, clientOf(aLarge('home', 'red', { uid: 'other' }))), undefined)
  t.equal(await readWhole(cached, clientOf(aLarge('home', 'red', { uid: stored.metadata.uid, generation: 2 }))), undefined)
  const absent = withWhole(cached, clientOf(), async () => {})
  await t.rejects(absent, { name: 'RetryableError' })
})

t.test('64 large orders at once filled the operator: four are in memory at a time, and two of one account', async (t) => {
  const accounts = ['red', 'red', 'red', 'red', 'blue', 'green', 'black', 'white']
  const all = accounts.map((account, n) => aLarge(`shot-${n}`, account))
  const running: string[] = []
  const peaks = { total: 0, red: 0 }
  const ended = all.map((stored) =>
    withWhole(toCached(stored), clientOf(...all), async (whole) => {
      running.push(whole.spec.accountName ?? '')
      peaks.total = Math.max(peaks.total, running.length)
      peaks.red = Math.max(peaks.red, running.filter((one) => one === 'red').length)
      await setImmediate()
      running.splice(running.indexOf(whole.spec.accountName ?? ''), 1)
      return whole.spec.options?.html?.length
    }),
  )
  const small = withWhole(aScreenshot(), clientOf(), async () => 'at once')
  t.equal(await small, 'at once', 'small ones do not wait')
  for (const length of await Promise.all(ended)) t.equal(length, html.length)
  t.strictSame(peaks, { total: 4, red: 2 })
})

// How much memory this saves is tested in test/unit/operator/controllers/schedule/memory.test.ts.

t.test('shareStrings leaves an equal object', async (t) => {
  const anObject = () => ({
    metadata: { name: 'a name that is long enough', labels: { app: 'x' }, uid: '' },
    status: { conditions: [{ message: 'The last run completed.' }, null, 'The last run completed.', 7, true], none: undefined },
    long: 'x'.repeat(10_000),
  })
  const object = anObject()
  t.equal(shareStrings(object), object)
  t.strictSame(object, anObject())
})

t.test('shareStrings leaves equal objects, however many different strings it has seen', async (t) => {
  const objects = () => Array.from({ length: 10_000 }, (_, n) => ({ text: `the text with the number ${n}` }))
  const texts = objects().map(shareStrings)
  t.ok(objects().every(({ text }, n) => texts[n]?.text === text))
})
