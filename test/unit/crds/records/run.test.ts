import t from 'tap'
import { scheduleIdOf } from '../../../../crds/src/identifiers/ids.ts'
import { ScreenshotSpec } from '../../../../crds/src/kinds/screenshot.ts'
import { ScheduleTemplate, type StoredSchedule } from '../../../../crds/src/kinds/screenshot-schedule.ts'
import { baselineOf, readRun, runIdOf, toRunSpec } from '../../../../crds/src/records/run.ts'
import { baselineKey, scheduleOptionsKey } from '../../../../crds/src/records/storage-keys.ts'
import type { Whole } from '../../../../crds/src/schema/custom-resource.ts'

const time = new Date('2026-06-01T09:00:00Z')
const id = runIdOf('u', time)
const ignored = [{ selector: '#ad', boxes: [] }]
const baseline = { id, time: time.toISOString(), key: baselineKey('default', 'u', id), etag: 'e', ignored }

const aSchedule = (spec: Partial<StoredSchedule['spec']> = {}, status: StoredSchedule['status'] = {}): Whole<StoredSchedule> => ({
  metadata: { name: 'home', namespace: 'tintype', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-06-01T00:00:00Z' },
  spec: { schedule: '@hourly', template: { url: 'https://example.com/', externalIdentifier: 'x' }, ...spec },
  status,
})
const ref = { name: 'home', uid: 'u', id: scheduleIdOf(aSchedule().metadata), time: time.toISOString() }

t.test('toRunSpec copies the template, and names account and schedule', async (t) => {
  t.strictSame(toRunSpec(aSchedule(), time), {
    url: 'https://example.com/',
    externalIdentifier: 'x',
    accountName: 'default',
    scheduleRef: ref,
  })
  t.equal(toRunSpec(aSchedule({ accountName: 'acme' }), time).accountName, 'acme')
})

t.test('toRunSpec adds the comparison, and for the first run only what it must store', async (t) => {
  const comparison = { threshold: 0.01, colorTolerance: 0.2, antialiasing: true, ignore: [{ selector: '#ad' }] }
  const template = { url: 'https://example.com/', options: { fullPage: true } }
  t.strictSame(toRunSpec(aSchedule({ comparison, template }), time).options, {
    fullPage: true,
    compareIgnore: [{ selector: '#ad' }],
    saveText: true,
  })
  const { options, baseline: kept, scheduleRef } = toRunSpec(aSchedule({ comparison, template }, { baseline }), time)
  t.strictSame(options, {
    fullPage: true,
    compareIgnore: [{ selector: '#ad' }],
    ...{ compareTo: id, compareThreshold: 0.01, compareColorTolerance: 0.2, compareAntialiasing: true },
  })
  t.strictSame(kept, { key: baseline.key, etag: 'e', ignored })
  t.equal(scheduleRef?.wasFit, true)
  const conditions = [{ type: 'Fit', status: 'False', reason: 'Login', message: '', lastTransitionTime: '2026-11-26T00:00:00.000Z' }]
  t.equal(toRunSpec(aSchedule({ comparison }, { conditions } as never), time).scheduleRef?.wasFit, false)
  t.strictSame(toRunSpec(aSchedule({ comparison: {} }, { baseline }), time).options, { compareTo: id })
})

t.test('baselineOf returns only a picture of this schedule in its account', async (t) => {
  t.strictSame(baselineOf(aSchedule({ comparison: {} }, { baseline })), baseline)
  t.equal(baselineOf(aSchedule({}, { baseline })), undefined, 'without a comparison')
  t.equal(baselineOf(aSchedule({ comparison: {}, accountName: 'other' }, { baseline })), undefined)
  t.equal(baselineOf(aSchedule({ comparison: {} }, { baseline: { ...baseline, key: 'users/default/x.png' } })), undefined)
})

t.test('readRun reads how a run ended and whether it changed', async (t) => {
  const run = { version: 1, id, time: time.toISOString(), outcome: 'completed', changed: true, changedRatio: 0.5 }
  const now = new Date('2026-06-02T00:00:00Z')
  t.strictSame(readRun(JSON.stringify(run), id, now), run)
  t.strictSame(readRun(JSON.stringify({ ...run, unfit: 'blank' }), id, now), { ...run, unfit: 'blank' })
  t.equal(readRun(JSON.stringify({ ...run, changedRatio: 2 }), id, now), 'content')
  t.equal(readRun(JSON.stringify(run), runIdOf('u2', time), now), 'id')
  t.equal(readRun(JSON.stringify(run), id, new Date('2026-05-01T00:00:00Z')), 'time')
})

t.test('a schedule with a name of more than 63 characters, or with dots, says Ready and never runs', async (t) => {
  for (const name of ['n'.repeat(64), 'n'.repeat(253), 'home.page']) {
    const optionsObject = scheduleOptionsKey('a'.repeat(63), name)
    const schedule = aSchedule({ template: { url: 'https://example.com/', optionsObject } })
    const spec = toRunSpec({ ...schedule, metadata: { ...schedule.metadata, name } }, time)
    t.equal(spec.scheduleRef?.name, name)
    t.strictSame(ScreenshotSpec.safeParse(spec).error, undefined, name)
    t.ok(ScheduleTemplate.safeParse(schedule.spec.template).success, name)
  }
})
